"""Spaces as people write them; every general test of the layer also runs on these."""

from __future__ import annotations

from hidim.space import Choice, Float, Int, Space, Vector

SVM = Space(
    C=Float(1e-3, 1e3, log=True),
    kernel=Choice(
        "linear",
        rbf=Space(gamma=Float(1e-6, 10, log=True)),
        poly=Space(gamma=Float(1e-4, 1, log=True), degree=Int(2, 5)),
    ),
)

CORPUS: dict[str, Space] = {
    "flat": Space(x=Float(-5, 10), y=Float(0, 15)),
    "vector": Space(w=Vector(100, low=-1, high=1)),
    "mixed": Space(
        lr=Float(1e-5, 1e-1, log=True),
        layers=Int(1, 8),
        units=Int(16, 4096, log=True),
        activation=Choice("relu", "gelu", "tanh"),
        bias=Choice(True, False),
        max_features=Choice(None, "sqrt", 0.5, 10),
    ),
    "classifier": Space(
        scale=Choice("none", "standard", "minmax"),
        model=Choice(
            svm=SVM,
            forest=Space(
                depth=Int(1, 30),
                criterion=Choice("gini", "entropy"),
                C=Float(0, 1),  # another C than that of svm
            ),
            naive_bayes=None,
        ),
    ),
    "optimizer": Space(
        algorithm=Choice(
            sgd=Space(lr=Float(1e-4, 1, log=True, shared=True), momentum=Float(0, 0.99)),
            adam=Space(lr=Float(1e-4, 1, log=True, shared=True), beta=Float(0.8, 0.999)),
            lbfgs=Space(memory=Int(3, 50)),
        ),
        schedule=Choice("constant", step=Space(every=Int(1, 100, log=True)), cosine=Space(cycles=Int(1, 5))),
        weights=Vector(20),
    ),
    "pipeline": Space(  # sibling choices, three levels
        imputer=Choice("mean", "median", knn=Space(neighbours=Int(1, 20))),
        selector=Choice(
            "none",
            pca=Space(keep=Float(0.5, 0.999), whiten=Choice(True, False)),
            agglomerate=Space(clusters=Int(2, 400, log=True), affinity=Choice("euclidean", "cosine")),
        ),
        model=Choice(
            boosting=Space(
                rate=Float(0.01, 1, log=True),
                booster=Choice(
                    gbtree=Space(depth=Int(2, 12, shared=True)),
                    dart=Space(depth=Int(2, 12, shared=True), drop=Float(0, 1)),
                    gblinear=Space(updater=Choice("shotgun", "coordinate")),
                ),
            ),
            linear=Space(penalty=Choice("l2", elastic=Space(ratio=Float(0, 1)))),
        ),
    ),
    # Fig. 1 of the Add-Tree paper in spirit: one parameter everywhere, others in leaves.
    "tree": Space(
        x1=Choice(
            {
                0: Space(r8=Float(0, 1), x2=Choice({0: Space(x4=Float(-1, 1)), 1: Space(x5=Float(-1, 1))})),
                1: Space(r9=Float(0, 1), x3=Choice({0: Space(x6=Float(-1, 1)), 1: Space(x7=Float(-1, 1))})),
            }
        )
    ),
    "sizes": Space(  # what has an order, or bounds of its own, without being an integer
        dropout=Float(0, 0.5, step=0.1),
        layers=Choice((), (64,), (64, 64), ("wide", (256, None))),
        weights=Vector(4, low=(-1, 0, 0.5, 1e-3), high=(1, 2, 8, 1e3), log=(False, False, True, True)),
        rates=Vector(3, low=1e-4, high=1, log=True),
        model=Choice(
            {
                "small": Space(width=Choice("thin", "medium", "thick", ordered=True)),
                "large": Space(width=Float(0.5, 4, step=0.25), depth=Int(2, 9)),
                ("large", 2): None,
            },
            ordered=True,
        ),
    ),
    "deep sharing": Space(  # a shared parameter that is first met above the choice that also leads to it
        a=Choice(
            x=Space(s=Choice("off", on=Space(t=Int(1, 3)), shared=True)),
            y=Space(b=Choice("p", q=Space(s=Choice("off", on=Space(t=Int(1, 3)), shared=True)))),
        )
    ),
}
