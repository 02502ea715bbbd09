# A streamed completion, with its usage before [DONE]. The chunk with the finish reason has `svc`:
# what was charged, what proves the answer, and where a browser checks it.
curl -sN "$BASE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
    "model": "qwen3-8b",
    "messages": [{"role": "user", "content": "Say hello."}],
    "max_tokens": 100,
    "stream": true,
    "stream_options": {"include_usage": true}
  }'
