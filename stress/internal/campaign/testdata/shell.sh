#!/bin/sh
# Stands in for a child: it does what SCRIPT says.
eval "$SCRIPT"
