"""The literature behind metrics, tests and tools, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.metric import ENTRIES
from ..errors import UnknownNameError, did_you_mean

VENUES = {
    "CIKM": "Proceedings of the {ACM} Conference on Information and Knowledge Management ({CIKM})",
    "ECIR": "Advances in Information Retrieval ({ECIR})",
    "ICML": "Proceedings of the International Conference on Machine Learning ({ICML})",
    "ICTIR": "Proceedings of the {ACM} {SIGIR} International Conference on Theory of Information "
    "Retrieval ({ICTIR})",
    "KDD": "Proceedings of the {ACM} {SIGKDD} International Conference on Knowledge Discovery "
    "and Data Mining ({KDD})",
    "NIPS": "Advances in Neural Information Processing Systems",
    "ROMIP": "Proceedings of the Russian Information Retrieval Evaluation Seminar ({ROMIP})",
    "SIGIR": "Proceedings of the International {ACM} {SIGIR} Conference on Research and "
    "Development in Information Retrieval ({SIGIR})",
    "TREC": "Proceedings of the Text {REtrieval} Conference ({TREC})",
    "WSDM": "Proceedings of the {ACM} International Conference on Web Search and Data Mining "
    "({WSDM})",
    "TOIS": "{ACM} Transactions on Information Systems",
    "JASA": "Journal of the American Statistical Association",
}
"""Names of journals and proceedings, by what stands for them below."""
_BIBTEX = r"""
% metrics
@inproceedings{buckley2004, author = {Buckley, Chris and Voorhees, Ellen M.},
  title = {Retrieval Evaluation with Incomplete Information},
  booktitle = {SIGIR}, pages = {25--32}, year = {2004}, doi = {10.1145/1008992.1009000}}
@incollection{buckley2005, author = {Buckley, Chris and Voorhees, Ellen M.}, editor = {Voorhees,
    Ellen M. and Harman, Donna K.},
  title = {Retrieval System Evaluation},
  booktitle = {{TREC}: Experiment and Evaluation in Information Retrieval}, pages = {53--75},
    publisher = {MIT Press}, year = {2005}}
@inproceedings{burges2005, author = {Burges, Chris and Shaked, Tal and Renshaw, Erin and Lazier, Ari
    and Deeds, Matt and Hamilton, Nicole and Hullender, Greg},
  title = {Learning to Rank using Gradient Descent},
  booktitle = {ICML}, pages = {89--96}, year = {2005}, doi = {10.1145/1102351.1102363}}
@inproceedings{chapelle2009, author = {Chapelle, Olivier and Metzler, Donald and Zhang, Ya and
    Grinspan, Pierre},
  title = {Expected Reciprocal Rank for Graded Relevance},
  booktitle = {CIKM}, pages = {621--630}, year = {2009}, doi = {10.1145/1645953.1646033}}
@inproceedings{corsi2024, author = {Corsi, Matteo and Urbano, Juli{\'a}n},
  title = {The Treatment of Ties in Rank-Biased Overlap},
  booktitle = {SIGIR}, pages = {251--260}, year = {2024}}
@article{fagin2003, author = {Fagin, Ronald and Kumar, Ravi and Sivakumar, D.},
  title = {Comparing Top k Lists},
  journal = {{SIAM} Journal on Discrete Mathematics}, volume = {17}, number = {1},
    pages = {134--160}, year = {2003}}
@inproceedings{gulin2009, author = {Gulin, Andrey and Karpovich, Pavel and Raskovalov, Denis and
    Segalovich, Ilya},
  title = {{Yandex} at {ROMIP}'2009: Optimization of Ranking Algorithms by Machine Learning
    Methods},
  booktitle = {ROMIP}, year = {2009}}
@article{hanley1982, author = {Hanley, James A. and McNeil, Barbara J.},
  title = {The Meaning and Use of the Area under a Receiver Operating Characteristic ({ROC}) Curve},
  journal = {Radiology}, volume = {143}, number = {1}, pages = {29--36}, year = {1982}}
@article{jarvelin2002, author = {J{\"a}rvelin, Kalervo and Kek{\"a}l{\"a}inen, Jaana},
  title = {Cumulated Gain-Based Evaluation of {IR} Techniques},
  journal = {TOIS}, volume = {20}, number = {4}, pages = {422--446}, year = {2002},
    doi = {10.1145/582415.582418}}
@inproceedings{joachims2002, author = {Joachims, Thorsten},
  title = {Optimizing Search Engines using Clickthrough Data},
  booktitle = {KDD}, pages = {133--142}, year = {2002}, doi = {10.1145/775047.775067}}
@inproceedings{joachims2017, author = {Joachims, Thorsten and Swaminathan, Adith and Schnabel,
    Tobias},
  title = {Unbiased Learning-to-Rank with Biased Feedback},
  booktitle = {WSDM}, pages = {781--789}, year = {2017}, doi = {10.1145/3018661.3018699}}
@article{kendall1938, author = {Kendall, M. G.},
  title = {A New Measure of Rank Correlation},
  journal = {Biometrika}, volume = {30}, number = {1/2}, pages = {81--93}, year = {1938}}
@article{kendall1945, author = {Kendall, M. G.},
  title = {The Treatment of Ties in Ranking Problems},
  journal = {Biometrika}, volume = {33}, number = {3}, pages = {239--251}, year = {1945}}
@article{moffat2008, author = {Moffat, Alistair and Zobel, Justin},
  title = {Rank-Biased Precision for Measurement of Retrieval Effectiveness},
  journal = {TOIS}, volume = {27}, number = {1}, pages = {2:1--2:27}, year = {2008},
    doi = {10.1145/1416950.1416952}}
@inproceedings{robertson2006, author = {Robertson, Stephen},
  title = {On {GMAP}: and other Transformations},
  booktitle = {CIKM}, pages = {78--83}, year = {2006}, doi = {10.1145/1183614.1183630}}
@inproceedings{robertson2012, author = {Robertson, Stephen},
  title = {On Smoothing Average Precision},
  booktitle = {ECIR}, pages = {158--169}, year = {2012}}
@article{spearman1904, author = {Spearman, C.},
  title = {The Proof and Measurement of Association between Two Things},
  journal = {The American Journal of Psychology}, volume = {15}, number = {1}, pages = {72--101},
    year = {1904}}
@inproceedings{urbano2017, author = {Urbano, Juli{\'a}n and Marrero, M{\'o}nica},
  title = {The Treatment of Ties in {AP} Correlation},
  booktitle = {ICTIR}, pages = {321--324}, year = {2017}}
@book{vanrijsbergen1979, author = {van Rijsbergen, C. J.},
  title = {Information Retrieval},
  edition = {2nd}, publisher = {Butterworths}, year = {1979}}
@inproceedings{voorhees1999, author = {Voorhees, Ellen M.},
  title = {The {TREC}-8 Question Answering Track Report},
  booktitle = {TREC}, pages = {77--82}, year = {1999}}
@article{webber2010, author = {Webber, William and Moffat, Alistair and Zobel, Justin},
  title = {A Similarity Measure for Indefinite Rankings},
  journal = {TOIS}, volume = {28}, number = {4}, pages = {20:1--20:38}, year = {2010},
    doi = {10.1145/1852102.1852106}}
@inproceedings{yilmaz2006, author = {Yilmaz, Emine and Aslam, Javed A.},
  title = {Estimating Average Precision with Incomplete and Imperfect Judgments},
  booktitle = {CIKM}, pages = {102--111}, year = {2006}, doi = {10.1145/1183614.1183633}}
@inproceedings{yilmaz2008, author = {Yilmaz, Emine and Aslam, Javed A. and Robertson, Stephen},
  title = {A New Rank Correlation Coefficient for Information Retrieval},
  booktitle = {SIGIR}, pages = {587--594}, year = {2008}, doi = {10.1145/1390334.1390435}}
% tests
@article{benjamini1995, author = {Benjamini, Yoav and Hochberg, Yosef},
  title = {Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple
    Testing},
  journal = {Journal of the Royal Statistical Society: Series B}, volume = {57}, number = {1},
    pages = {289--300}, year = {1995}}
@article{benjamini2001, author = {Benjamini, Yoav and Yekutieli, Daniel},
  title = {The Control of the False Discovery Rate in Multiple Testing under Dependency},
  journal = {The Annals of Statistics}, volume = {29}, number = {4}, pages = {1165--1188},
    year = {2001}, doi = {10.1214/aos/1013699998}}
@article{carterette2012, author = {Carterette, Benjamin A.},
  title = {Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval
    Experiments},
  journal = {TOIS}, volume = {30}, number = {1}, pages = {4:1--4:34}, year = {2012},
    doi = {10.1145/2094072.2094076}}
@article{cliff1993, author = {Cliff, Norman},
  title = {Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions},
  journal = {Psychological Bulletin}, volume = {114}, number = {3}, pages = {494--509},
    year = {1993}, doi = {10.1037/0033-2909.114.3.494}}
@book{cohen1988, author = {Cohen, Jacob},
  title = {Statistical Power Analysis for the Behavioral Sciences},
  edition = {2nd}, publisher = {Lawrence Erlbaum Associates}, year = {1988}}
@book{conover1999, author = {Conover, W. J.},
  title = {Practical Nonparametric Statistics},
  edition = {3rd}, publisher = {Wiley}, year = {1999}}
@article{demsar2006, author = {Dem{\v{s}}ar, Janez},
  title = {Statistical Comparisons of Classifiers over Multiple Data Sets},
  journal = {Journal of Machine Learning Research}, volume = {7}, pages = {1--30}, year = {2006}}
@article{dunn1961, author = {Dunn, Olive Jean},
  title = {Multiple Comparisons among Means},
  journal = {JASA}, volume = {56}, number = {293}, pages = {52--64}, year = {1961}}
@article{efron1987, author = {Efron, Bradley},
  title = {Better Bootstrap Confidence Intervals},
  journal = {JASA}, volume = {82}, number = {397}, pages = {171--185}, year = {1987}}
@book{efron1993, author = {Efron, Bradley and Tibshirani, Robert J.},
  title = {An Introduction to the Bootstrap},
  publisher = {Chapman and Hall}, year = {1993}}
@book{fisher1935, author = {Fisher, R. A.},
  title = {The Design of Experiments},
  publisher = {Oliver and Boyd}, year = {1935}}
@article{friedman1937, author = {Friedman, Milton},
  title = {The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of
    Variance},
  journal = {JASA}, volume = {32}, number = {200}, pages = {675--701}, year = {1937}}
@article{hedges1981, author = {Hedges, Larry V.},
  title = {Distribution Theory for {Glass's} Estimator of Effect Size and Related Estimators},
  journal = {Journal of Educational Statistics}, volume = {6}, number = {2}, pages = {107--128},
    year = {1981}}
@article{holm1979, author = {Holm, Sture},
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics}, volume = {6}, number = {2}, pages = {65--70},
    year = {1979}}
@phdthesis{nemenyi1963, author = {Nemenyi, Peter Bj{\"o}rn},
  title = {Distribution-Free Multiple Comparisons},
  school = {Princeton University}, year = {1963}}
@article{phipson2010, author = {Phipson, Belinda and Smyth, Gordon K.},
  title = {Permutation P-values Should Never Be Zero: Calculating Exact P-values When Permutations
    Are Randomly Drawn},
  journal = {Statistical Applications in Genetics and Molecular Biology}, volume = {9},
    number = {1}, pages = {39}, year = {2010}, doi = {10.2202/1544-6115.1585}}
@article{pratt1959, author = {Pratt, John W.},
  title = {Remarks on Zeros and Ties in the {Wilcoxon} Signed Rank Procedures},
  journal = {JASA}, volume = {54}, number = {287}, pages = {655--667}, year = {1959}}
@inproceedings{sakai2006, author = {Sakai, Tetsuya},
  title = {Evaluating Evaluation Metrics based on the Bootstrap},
  booktitle = {SIGIR}, pages = {525--532}, year = {2006}, doi = {10.1145/1148170.1148261}}
@book{sakai2018, author = {Sakai, Tetsuya},
  title = {Laboratory Experiments in Information Retrieval: Sample Sizes, Effect Sizes, and
    Statistical Power},
  publisher = {Springer}, year = {2018}}
@inproceedings{smucker2007, author = {Smucker, Mark D. and Allan, James and Carterette, Ben},
  title = {A Comparison of Statistical Significance Tests for Information Retrieval Evaluation},
  booktitle = {CIKM}, pages = {623--632}, year = {2007}, doi = {10.1145/1321440.1321528}}
@article{student1908, author = {{Student}},
  title = {The Probable Error of a Mean},
  journal = {Biometrika}, volume = {6}, number = {1}, pages = {1--25}, year = {1908}}
@article{tukey1949, author = {Tukey, John W.},
  title = {Comparing Individual Means in the Analysis of Variance},
  journal = {Biometrics}, volume = {5}, number = {2}, pages = {99--114}, year = {1949},
    doi = {10.2307/3001913}}
@inproceedings{urbano2019, author = {Urbano, Juli{\'a}n and Lima, Harlley and Hanjalic, Alan},
  title = {Statistical Significance Testing in Information Retrieval: An Empirical Analysis of Type
    {I}, Type {II} and Type {III} Errors},
  booktitle = {SIGIR}, pages = {505--514}, year = {2019}, doi = {10.1145/3331184.3331259}}
@article{wilcoxon1945, author = {Wilcoxon, Frank},
  title = {Individual Comparisons by Ranking Methods},
  journal = {Biometrics Bulletin}, volume = {1}, number = {6}, pages = {80--83}, year = {1945},
    doi = {10.2307/3001968}}
% tools
@inproceedings{chen2016, author = {Chen, Tianqi and Guestrin, Carlos},
  title = {{XGBoost}: A Scalable Tree Boosting System},
  booktitle = {KDD}, pages = {785--794}, year = {2016}, doi = {10.1145/2939672.2939785}}
@inproceedings{ke2017, author = {Ke, Guolin and Meng, Qi and Finley, Thomas and Wang, Taifeng and
    Chen, Wei and Ma, Weidong and Ye, Qiwei and Liu, Tie-Yan},
  title = {{LightGBM}: A Highly Efficient Gradient Boosting Decision Tree},
  booktitle = {NIPS}, volume = {30}, pages = {3146--3154}, year = {2017}}
@article{qin2010, author = {Qin, Tao and Liu, Tie-Yan and Xu, Jun and Li, Hang},
  title = {{LETOR}: A Benchmark Collection for Research on Learning to Rank for Information
    Retrieval},
  journal = {Information Retrieval}, volume = {13}, number = {4}, pages = {346--374}, year = {2010}}
@misc{rankingharness2026, author = {{the ranking-harness authors}},
  title = {ranking-harness: From Prediction Files to the Table in the Paper},
  howpublished = {Computer software}, year = {2026}}
@inproceedings{vangysel2018, author = {Van Gysel, Christophe and de Rijke, Maarten},
  title = {Pytrec\_eval: An Extremely Fast {Python} Interface to trec\_eval},
  booktitle = {SIGIR}, pages = {873--876}, year = {2018}, doi = {10.1145/3209978.3210065}}
"""


_NESTED = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
"""What a field's braces may hold: two further levels of them."""


def _parsed() -> dict[str, str]:
    """Return each entry by its key, a line a field, with the names of venues written out."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{(\w+), ((?:.*\n)+?.*\}\})$", _BIBTEX, re.M):
        fields = re.findall(rf"(\w+) = \{{({_NESTED})\}}", " ".join(body.split()))
        lines = (f"  {name} = {{{VENUES.get(text, text)}}},\n" for name, text in fields)
        found[key] = f"@{kind}{{{key},\n{''.join(lines)}}}\n"
    return found


REFERENCES = _parsed()
"""Every entry by its key: first author and year."""


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of some keys, each once, in alphabetical order.

    Parameters
    ----------
    keys : iterable of str

    Returns
    -------
    str
        Empty where there are no keys.

    Raises
    ------
    UnknownNameError
        Where there is no entry of that key.

    Examples
    --------
    >>> print(bibtex(["holm1979"]), end="")
    @article{holm1979,
      author = {Holm, Sture},
      title = {A Simple Sequentially Rejective Multiple Test Procedure},
      journal = {Scandinavian Journal of Statistics},
      volume = {6},
      number = {2},
      pages = {65--70},
      year = {1979},
    }
    """
    known = {**ENTRIES, **REFERENCES}
    for key in (wanted := sorted(set(keys))):
        if key not in known:
            near, all_ = did_you_mean(key, known), ", ".join(known)
            raise UnknownNameError(f"unknown reference '{key}'{near}  (all: {all_})")
    return "\n".join(known[key] for key in wanted)
