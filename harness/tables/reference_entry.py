"""What an entry of the literature is, and the venues that many have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["article", "inproceedings", "incollection", "book", "phdthesis", "misc"]


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One entry; its fields are BibTeX's, in the order that they are printed."""

    kind: Kind = "article"
    author: str
    editor: str = ""
    title: str
    journal: str = ""
    booktitle: str = ""
    volume: int | None = None
    number: str = ""
    pages: str = ""
    edition: str = ""
    publisher: str = ""
    school: str = ""
    howpublished: str = ""
    year: int
    doi: str = ""


TOIS = "{ACM} Transactions on Information Systems"
JASA = "Journal of the American Statistical Association"
PROCEEDINGS = {
    "CIKM": "Proceedings of the {ACM} Conference on Information and Knowledge Management ({CIKM})",
    "ECIR": "Advances in Information Retrieval ({ECIR})",
    "ICML": "Proceedings of the International Conference on Machine Learning ({ICML})",
    "ICTIR": "Proceedings of the {ACM} {SIGIR} International Conference on Theory of Information "
    "Retrieval ({ICTIR})",
    "KDD": "Proceedings of the {ACM} {SIGKDD} International Conference on Knowledge Discovery and "
    "Data Mining ({KDD})",
    "NIPS": "Advances in Neural Information Processing Systems",
    "ROMIP": "Proceedings of the Russian Information Retrieval Evaluation Seminar ({ROMIP})",
    "SIGIR": "Proceedings of the International {ACM} {SIGIR} Conference on Research and "
    "Development in Information Retrieval ({SIGIR})",
    "TREC": "Proceedings of the Text {REtrieval} Conference ({TREC})",
    "WSDM": "Proceedings of the {ACM} International Conference on Web Search and Data Mining "
    "({WSDM})",
}


def at(venue: str, **facts: Any) -> Reference:
    """Return a paper of some proceedings."""
    return Reference(kind="inproceedings", booktitle=PROCEEDINGS[venue], **facts)
