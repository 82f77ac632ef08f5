"use strict";
drawCharts();
