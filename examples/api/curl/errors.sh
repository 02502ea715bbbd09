# An error has a status, a code, the field it is about, and a link to what it means. Some have
# details: this request may lock one credit at most, and credits_required says what it takes.
curl -s -w '\nstatus %{http_code}\n' "$BASE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -H 'x-svc-max-credits: 1' \
  -d '{
    "model": "qwen3-8b",
    "messages": [{"role": "user", "content": "Say hello."}]
  }'
