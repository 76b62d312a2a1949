"""Labels of a document and of a span behind an emoji, written as CAS JSON, where places count units of UTF-16."""

from cassis import Cas, TypeSystem

TEXT = "😀 Rome is the capital of Italy. It is in Spain."
CLAIM = "It is in Spain."
METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"

types = TypeSystem()
claim = types.create_type("custom.Claim", supertypeName="uima.tcas.Annotation")
types.create_feature(claim, "verdict", "uima.cas.String")
quality = types.create_type("custom.Quality", supertypeName="uima.cas.AnnotationBase")
types.create_feature(quality, "verdict", "uima.cas.String")
types.create_feature(quality, "useful", "uima.cas.Boolean")
types.create_feature(quality, "points", "uima.cas.Double")
metadata = types.create_type(METADATA, supertypeName="uima.tcas.DocumentAnnotation")
for feature in ("documentTitle", "documentId"):
    types.create_feature(metadata, feature, "uima.cas.String")

document = Cas(types)
document.sofa_string = TEXT
document.sofa_mime = "text"
document.add(metadata(begin=0, end=len(TEXT), documentId="a1", documentTitle="a1.txt"))
document.add(claim(begin=TEXT.index(CLAIM), end=len(TEXT), verdict="wrong"))
document.to_json("spans.json", pretty_print=True)  # labels of parts of the text alone
document.add(quality(verdict="good", useful=False, points=4.5))
document.to_json("document.json", pretty_print=True)
