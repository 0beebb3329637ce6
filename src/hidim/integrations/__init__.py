"""hidim beside other packages: hyper-parameter search for scikit-learn, spaces of ConfigSpace."""
