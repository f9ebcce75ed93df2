// The picture of a report in the README: its first screen.
//
// usage: node tests/browser/picture.mjs REPORT.html PICTURE.png [CHROMIUM]

import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [report, picture, executablePath = "/usr/bin/chromium"] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1180, height: 1240 }, deviceScaleFactor: 0.75, colorScheme: "light" });
await page.goto(`file://${resolve(report)}`);
await page.waitForSelector("html[data-ready]");
await page.screenshot({ path: picture });
await browser.close();
