"""The literature behind metrics, and behind the tools whose conventions they follow."""

from __future__ import annotations

from collections.abc import Mapping

from .reference_entry import TOIS, Reference, at

METRICS: Mapping[str, Reference] = {
    "buckley2004": at(
        "SIGIR",
        author="Buckley, Chris and Voorhees, Ellen M.",
        title="Retrieval Evaluation with Incomplete Information",
        pages="25--32", year=2004, doi="10.1145/1008992.1009000",
    ),
    "buckley2005": Reference(
        kind="incollection",
        author="Buckley, Chris and Voorhees, Ellen M.",
        editor="Voorhees, Ellen M. and Harman, Donna K.",
        title="Retrieval System Evaluation",
        booktitle="{TREC}: Experiment and Evaluation in Information Retrieval",
        pages="53--75", publisher="MIT Press", year=2005,
    ),
    "burges2005": at(
        "ICML",
        author="Burges, Chris and Shaked, Tal and Renshaw, Erin and Lazier, Ari and Deeds, Matt "
        "and Hamilton, Nicole and Hullender, Greg",
        title="Learning to Rank using Gradient Descent",
        pages="89--96", year=2005, doi="10.1145/1102351.1102363",
    ),
    "chapelle2009": at(
        "CIKM",
        author="Chapelle, Olivier and Metzler, Donald and Zhang, Ya and Grinspan, Pierre",
        title="Expected Reciprocal Rank for Graded Relevance",
        pages="621--630", year=2009, doi="10.1145/1645953.1646033",
    ),
    "corsi2024": at(
        "SIGIR",
        author="Corsi, Matteo and Urbano, Juli{\\'a}n",
        title="The Treatment of Ties in Rank-Biased Overlap",
        pages="251--260", year=2024,
    ),
    "fagin2003": Reference(
        author="Fagin, Ronald and Kumar, Ravi and Sivakumar, D.",
        title="Comparing Top k Lists",
        journal="{SIAM} Journal on Discrete Mathematics",
        volume=17, number="1", pages="134--160", year=2003,
    ),
    "gulin2009": at(
        "ROMIP",
        author="Gulin, Andrey and Karpovich, Pavel and Raskovalov, Denis and Segalovich, Ilya",
        title="{Yandex} at {ROMIP}'2009: Optimization of Ranking Algorithms by Machine Learning "
        "Methods", year=2009,
    ),
    "hanley1982": Reference(
        author="Hanley, James A. and McNeil, Barbara J.",
        title="The Meaning and Use of the Area under a Receiver Operating Characteristic ({ROC}) "
        "Curve",
        journal="Radiology", volume=143, number="1", pages="29--36", year=1982,
    ),
    "jarvelin2002": Reference(
        author="J{\\\"a}rvelin, Kalervo and Kek{\\\"a}l{\\\"a}inen, Jaana",
        title="Cumulated Gain-Based Evaluation of {IR} Techniques",
        journal=TOIS, volume=20, number="4", pages="422--446", year=2002,
        doi="10.1145/582415.582418",
    ),
    "joachims2002": at(
        "KDD",
        author="Joachims, Thorsten",
        title="Optimizing Search Engines using Clickthrough Data",
        pages="133--142", year=2002, doi="10.1145/775047.775067",
    ),
    "joachims2017": at(
        "WSDM",
        author="Joachims, Thorsten and Swaminathan, Adith and Schnabel, Tobias",
        title="Unbiased Learning-to-Rank with Biased Feedback",
        pages="781--789", year=2017, doi="10.1145/3018661.3018699",
    ),
    "kendall1938": Reference(
        author="Kendall, M. G.", title="A New Measure of Rank Correlation",
        journal="Biometrika", volume=30, number="1/2", pages="81--93", year=1938,
    ),
    "kendall1945": Reference(
        author="Kendall, M. G.", title="The Treatment of Ties in Ranking Problems",
        journal="Biometrika", volume=33, number="3", pages="239--251", year=1945,
    ),
    "moffat2008": Reference(
        author="Moffat, Alistair and Zobel, Justin",
        title="Rank-Biased Precision for Measurement of Retrieval Effectiveness",
        journal=TOIS, volume=27, number="1", pages="2:1--2:27", year=2008,
        doi="10.1145/1416950.1416952",
    ),
    "robertson2006": at(
        "CIKM",
        author="Robertson, Stephen", title="On {GMAP}: and other Transformations",
        pages="78--83", year=2006, doi="10.1145/1183614.1183630",
    ),
    "robertson2012": at(
        "ECIR",
        author="Robertson, Stephen", title="On Smoothing Average Precision",
        pages="158--169", year=2012,
    ),
    "spearman1904": Reference(
        author="Spearman, C.",
        title="The Proof and Measurement of Association between Two Things",
        journal="The American Journal of Psychology",
        volume=15, number="1", pages="72--101", year=1904,
    ),
    "urbano2017": at(
        "ICTIR",
        author="Urbano, Juli{\\'a}n and Marrero, M{\\'o}nica",
        title="The Treatment of Ties in {AP} Correlation",
        pages="321--324", year=2017,
    ),
    "vanrijsbergen1979": Reference(
        kind="book",
        author="van Rijsbergen, C. J.", title="Information Retrieval",
        edition="2nd", publisher="Butterworths", year=1979,
    ),
    "voorhees1999": at(
        "TREC",
        author="Voorhees, Ellen M.", title="The {TREC}-8 Question Answering Track Report",
        pages="77--82", year=1999,
    ),
    "webber2010": Reference(
        author="Webber, William and Moffat, Alistair and Zobel, Justin",
        title="A Similarity Measure for Indefinite Rankings",
        journal=TOIS, volume=28, number="4", pages="20:1--20:38", year=2010,
        doi="10.1145/1852102.1852106",
    ),
    "yilmaz2006": at(
        "CIKM",
        author="Yilmaz, Emine and Aslam, Javed A.",
        title="Estimating Average Precision with Incomplete and Imperfect Judgments",
        pages="102--111", year=2006, doi="10.1145/1183614.1183633",
    ),
    "yilmaz2008": at(
        "SIGIR",
        author="Yilmaz, Emine and Aslam, Javed A. and Robertson, Stephen",
        title="A New Rank Correlation Coefficient for Information Retrieval",
        pages="587--594", year=2008, doi="10.1145/1390334.1390435",
    ),
}  # fmt: skip

TOOLS: Mapping[str, Reference] = {
    "chen2016": at(
        "KDD",
        author="Chen, Tianqi and Guestrin, Carlos",
        title="{XGBoost}: A Scalable Tree Boosting System",
        pages="785--794", year=2016, doi="10.1145/2939672.2939785",
    ),
    "ke2017": at(
        "NIPS",
        author="Ke, Guolin and Meng, Qi and Finley, Thomas and Wang, Taifeng and Chen, Wei and "
        "Ma, Weidong and Ye, Qiwei and Liu, Tie-Yan",
        title="{LightGBM}: A Highly Efficient Gradient Boosting Decision Tree",
        volume=30, pages="3146--3154", year=2017,
    ),
    "qin2010": Reference(
        author="Qin, Tao and Liu, Tie-Yan and Xu, Jun and Li, Hang",
        title="{LETOR}: A Benchmark Collection for Research on Learning to Rank for Information "
        "Retrieval",
        journal="Information Retrieval", volume=13, number="4", pages="346--374", year=2010,
    ),
    "rankingharness2026": Reference(
        kind="misc",
        author="{the ranking-harness authors}",
        title="ranking-harness: From Prediction Files to the Table in the Paper",
        howpublished="Computer software", year=2026,
    ),
    "vangysel2018": at(
        "SIGIR",
        author="Van Gysel, Christophe and de Rijke, Maarten",
        title="Pytrec\\_eval: An Extremely Fast {Python} Interface to trec\\_eval",
        pages="873--876", year=2018, doi="10.1145/3209978.3210065",
    ),
}  # fmt: skip
