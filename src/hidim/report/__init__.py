"""A run as one page for a browser: self-contained, without network, for people who want to look.

    write_report   gathers what is known about a run and writes the page

The page holds its data as JSON and draws them itself, by the scripts in `assets/`. Whatever comes from users
(names, labels, reasons, commands) is data there and never markup.
"""

from __future__ import annotations

from hidim.report.page import write_report

__all__ = ["write_report"]
