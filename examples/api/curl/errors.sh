# An error has a status, a code, and a link to what it means. A 402 comes with details: what was
# needed, what is left, and the max_tokens that would be covered.
curl -s -w '\nstatus %{http_code}\n' "$BASE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
    "model": "qwen3-8b",
    "messages": [{"role": "user", "content": "Write a novel."}],
    "max_tokens": 30000
  }'
