"""The literature behind significance tests, corrections, intervals and effect sizes."""

from __future__ import annotations

from collections.abc import Mapping

from .reference_entry import JASA, TOIS, Reference, at

TESTS: Mapping[str, Reference] = {
    "benjamini1995": Reference(
        author="Benjamini, Yoav and Hochberg, Yosef",
        title="Controlling the False Discovery Rate: A Practical and Powerful Approach to "
        "Multiple Testing",
        journal="Journal of the Royal Statistical Society: Series B",
        volume=57, number="1", pages="289--300", year=1995,
    ),
    "benjamini2001": Reference(
        author="Benjamini, Yoav and Yekutieli, Daniel",
        title="The Control of the False Discovery Rate in Multiple Testing under Dependency",
        journal="The Annals of Statistics",
        volume=29, number="4", pages="1165--1188", year=2001, doi="10.1214/aos/1013699998",
    ),
    "carterette2012": Reference(
        author="Carterette, Benjamin A.",
        title="Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval "
        "Experiments",
        journal=TOIS, volume=30, number="1", pages="4:1--4:34", year=2012,
        doi="10.1145/2094072.2094076",
    ),
    "cliff1993": Reference(
        author="Cliff, Norman",
        title="Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions",
        journal="Psychological Bulletin",
        volume=114, number="3", pages="494--509", year=1993, doi="10.1037/0033-2909.114.3.494",
    ),
    "cohen1988": Reference(
        kind="book",
        author="Cohen, Jacob", title="Statistical Power Analysis for the Behavioral Sciences",
        edition="2nd", publisher="Lawrence Erlbaum Associates", year=1988,
    ),
    "conover1999": Reference(
        kind="book", author="Conover, W. J.", title="Practical Nonparametric Statistics",
        edition="3rd", publisher="Wiley", year=1999,
    ),
    "demsar2006": Reference(
        author="Dem{\\v{s}}ar, Janez",
        title="Statistical Comparisons of Classifiers over Multiple Data Sets",
        journal="Journal of Machine Learning Research", volume=7, pages="1--30", year=2006,
    ),
    "dunn1961": Reference(
        author="Dunn, Olive Jean", title="Multiple Comparisons among Means",
        journal=JASA, volume=56, number="293", pages="52--64", year=1961,
    ),
    "efron1987": Reference(
        author="Efron, Bradley", title="Better Bootstrap Confidence Intervals",
        journal=JASA, volume=82, number="397", pages="171--185", year=1987,
    ),
    "efron1993": Reference(
        kind="book",
        author="Efron, Bradley and Tibshirani, Robert J.",
        title="An Introduction to the Bootstrap", publisher="Chapman and Hall", year=1993,
    ),
    "fisher1935": Reference(
        kind="book",
        author="Fisher, R. A.", title="The Design of Experiments",
        publisher="Oliver and Boyd", year=1935,
    ),
    "friedman1937": Reference(
        author="Friedman, Milton",
        title="The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of "
        "Variance",
        journal=JASA, volume=32, number="200", pages="675--701", year=1937,
    ),
    "hedges1981": Reference(
        author="Hedges, Larry V.",
        title="Distribution Theory for {Glass's} Estimator of Effect Size and Related Estimators",
        journal="Journal of Educational Statistics",
        volume=6, number="2", pages="107--128", year=1981,
    ),
    "holm1979": Reference(
        author="Holm, Sture", title="A Simple Sequentially Rejective Multiple Test Procedure",
        journal="Scandinavian Journal of Statistics",
        volume=6, number="2", pages="65--70", year=1979,
    ),
    "nemenyi1963": Reference(
        kind="phdthesis",
        author="Nemenyi, Peter Bj{\\\"o}rn", title="Distribution-Free Multiple Comparisons",
        school="Princeton University", year=1963,
    ),
    "phipson2010": Reference(
        author="Phipson, Belinda and Smyth, Gordon K.",
        title="Permutation P-values Should Never Be Zero: Calculating Exact P-values When "
        "Permutations Are Randomly Drawn",
        journal="Statistical Applications in Genetics and Molecular Biology",
        volume=9, number="1", pages="39", year=2010, doi="10.2202/1544-6115.1585",
    ),
    "pratt1959": Reference(
        author="Pratt, John W.",
        title="Remarks on Zeros and Ties in the {Wilcoxon} Signed Rank Procedures",
        journal=JASA, volume=54, number="287", pages="655--667", year=1959,
    ),
    "sakai2006": at(
        "SIGIR",
        author="Sakai, Tetsuya", title="Evaluating Evaluation Metrics based on the Bootstrap",
        pages="525--532", year=2006, doi="10.1145/1148170.1148261",
    ),
    "sakai2018": Reference(
        kind="book",
        author="Sakai, Tetsuya",
        title="Laboratory Experiments in Information Retrieval: Sample Sizes, Effect Sizes, and "
        "Statistical Power",
        publisher="Springer", year=2018,
    ),
    "smucker2007": at(
        "CIKM",
        author="Smucker, Mark D. and Allan, James and Carterette, Ben",
        title="A Comparison of Statistical Significance Tests for Information Retrieval "
        "Evaluation",
        pages="623--632", year=2007, doi="10.1145/1321440.1321528",
    ),
    "student1908": Reference(
        author="{Student}", title="The Probable Error of a Mean",
        journal="Biometrika", volume=6, number="1", pages="1--25", year=1908,
    ),
    "tukey1949": Reference(
        author="Tukey, John W.",
        title="Comparing Individual Means in the Analysis of Variance",
        journal="Biometrics", volume=5, number="2", pages="99--114", year=1949,
        doi="10.2307/3001913",
    ),
    "urbano2019": at(
        "SIGIR",
        author="Urbano, Juli{\\'a}n and Lima, Harlley and Hanjalic, Alan",
        title="Statistical Significance Testing in Information Retrieval: An Empirical Analysis "
        "of Type {I}, Type {II} and Type {III} Errors",
        pages="505--514", year=2019, doi="10.1145/3331184.3331259",
    ),
    "wilcoxon1945": Reference(
        author="Wilcoxon, Frank", title="Individual Comparisons by Ranking Methods",
        journal="Biometrics Bulletin", volume=1, number="6", pages="80--83", year=1945,
        doi="10.2307/3001968",
    ),
}  # fmt: skip
