import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getBundleModule } from '../services/bundle.ts';
import { SmallInternet, useSmallInternet } from './small-internet.ts';

// Uses the bundle, like users do, because the sources would be compiled again for each drill.
const { locateDataFolder, runStart }: typeof import('@parley/cli') = await import(
  getBundleModule('index')
);

/** An ordinary Parley on an internet of two servers: `drill-program.ts <data folder>`. */
const folder = locateDataFolder(process.argv[2], process.env);
const internet = readFileSync(join(folder.path, 'small-internet.json'), 'utf8');
useSmallInternet(SmallInternet.parse(JSON.parse(internet)));
await runStart(folder, process.env, () => {});
