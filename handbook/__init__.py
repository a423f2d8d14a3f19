"""What the site has beside the pages of docs/: pages that are made from the code when it is built."""
