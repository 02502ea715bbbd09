# An error has a status, a code, the field it is about, and a link to what it means. Some have
# details: in those of a 402, affordable_max_tokens says what the balance covers.
curl -s -w '\nstatus %{http_code}\n' "$BASE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
    "model": "no-such-model",
    "messages": [{"role": "user", "content": "Say hello."}]
  }'
