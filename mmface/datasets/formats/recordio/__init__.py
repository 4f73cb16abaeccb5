"""InsightFace's and MXNet's indexed RecordIO."""
