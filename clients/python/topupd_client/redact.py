import html
import json
import re

_HIDDEN = "[access token]"
# Shorter parts of a token are useless.
_TELLING_LENGTH = 16


class Redactor:
    """Removes the access token from text and JSON: an answer or error may quote the request."""

    def __init__(self, token: str) -> None:
        in_json = json.dumps(token)[1:-1]
        in_html = [html.escape(token, quote=False), html.escape(token).replace("&#x27;", "&#39;")]
        escaped = [re.sub(r"\W", lambda mark: form % ord(mark[0]), token) for form in ("\\u%04X", "\\u%04x")]
        # The token as JSON, HTML and JavaScript may write it.
        self._spellings = [token, in_json, in_json.replace("/", "\\/"), *in_html, *escaped]

    def text(self, text: str) -> str:
        for spelling in self._spellings:
            text = text.replace(spelling, _HIDDEN)
        # A truncated answer may end within the token.
        for spelling in self._spellings:
            for length in range(len(spelling) - 1, _TELLING_LENGTH - 1, -1):
                if text.endswith(spelling[:length]):
                    text = text[:-length] + _HIDDEN
        return text

    def json(self, value: object, depth: int = 0) -> object:
        if isinstance(value, str):
            return self.text(value)
        if depth == 100:
            return "[nested too deep]"
        if isinstance(value, list):
            return [self.json(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self.text(name): self.json(item, depth + 1) for name, item in value.items()}
        return value
