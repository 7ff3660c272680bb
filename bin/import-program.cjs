'use strict'
import('../dist/main.js')
