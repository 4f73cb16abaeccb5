"""Sets of Hugging Face's ``datasets``: Arrow streams and Parquet."""
