# A dispute, if another text arrived than the worker proved, within 60 s of the settlement.
# answer.txt is the text of JOB_ID as it arrived, without a newline at its end.
hash=$(openssl dgst -sha256 -r answer.txt | cut -d ' ' -f 1)
curl -s "$BASE_URL/v1/jobs/$JOB_ID/dispute" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d "{\"received_output_hash\": \"sha256:$hash\"}"
