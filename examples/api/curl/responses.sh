# A response: the newer format of the same job. Nothing is stored, so a conversation is sent whole.
curl -s "$BASE_URL/v1/responses" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
    "model": "qwen3-8b",
    "instructions": "Be brief.",
    "input": "Say hello.",
    "max_output_tokens": 100
  }'
