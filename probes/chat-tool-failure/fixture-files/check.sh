echo 'checking the colors'
echo 'blue is missing' >&2
exit 3
