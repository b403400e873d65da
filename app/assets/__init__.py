"""Static files, languages and QR codes."""
