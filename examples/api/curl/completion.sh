# A completion. The headers name its job, who answered, the two transactions, and what is left.
curl -si "$BASE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
    "model": "qwen3-8b",
    "messages": [{"role": "user", "content": "Say hello."}],
    "max_tokens": 100
  }'
