# The models that can be asked, with their prices in credits.
curl -s "$BASE_URL/v1/models" -H "Authorization: Bearer $API_KEY"
