import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KILL_SITES, type KillSite, killOf } from './kill.ts';
import { runSeries } from './series.ts';
import type { Side } from './side.ts';
import { addTallies, NOTHING, type Tally } from './tally.ts';
import { startTelegramSide } from './telegram-side.ts';
import { openWebSide } from './web-side.ts';

// The long form of the crash check: every site, both channels, as many rounds as asked for, a table.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    site: { type: 'string', multiple: true },
    channel: { type: 'string', multiple: true },
    chats: { type: 'string', default: '5' },
    keep: { type: 'boolean', default: false },
  },
});

const SIDES: Readonly<Record<string, (folder: string) => Promise<Side>>> = {
  telegram: () => startTelegramSide(Number(values.chats)),
  web: async (folder) => openWebSide(folder, 3),
};
/** A new data folder each time, so that first starts and migrations are killed as well. */
const STARTS_PER_FOLDER = 2;

const COLUMNS: readonly (readonly [title: string, value: (tally: Tally) => number])[] = [
  ['kills', ({ kills }) => kills],
  ['questions', ({ questions }) => questions],
  ['lost', ({ lost }) => lost],
  ['doubled', ({ doubled }) => doubled],
  ['out of order', ({ outOfOrder }) => outOfOrder],
  ['uncertain', ({ uncertain }) => uncertain],
  ['untold', ({ untold }) => untold],
  ['too many', ({ beyondPromise }) => beyondPromise],
  ['failed', ({ failed }) => failed],
  ['asked again', ({ askedAgain }) => askedAgain],
];

const root = mkdtempSync(join(tmpdir(), 'parley-crash-'));
let folders = 0;
const rounds = Number(values.rounds);
const sites = KILL_SITES.filter((site) => values.site?.includes(site) ?? true);
const channels = Object.keys(SIDES).filter((name) => values.channel?.includes(name) ?? true);
printRow(
  'channel',
  'killed at',
  COLUMNS.map(([title]) => title),
);
let total = NOTHING;
for (const channel of channels) {
  for (const site of sites) {
    const tally = await runSite(channel, site);
    total = addTallies(total, tally);
    printRow(
      channel,
      site,
      COLUMNS.map(([, value]) => String(value(tally))),
    );
  }
}
printRow(
  '',
  'all',
  COLUMNS.map(([, value]) => String(value(total))),
);
if (values.keep) console.log(`The data folders are in ${root}.`);
else rmSync(root, { recursive: true });
const { lost, doubled, outOfOrder, untold, beyondPromise, failed } = total;
process.exitCode = lost + doubled + outOfOrder + untold + beyondPromise + failed === 0 ? 0 : 1;

async function runSite(channel: string, site: KillSite): Promise<Tally> {
  const openSide = SIDES[channel];
  if (openSide === undefined) throw new Error(`No channel ${channel}.`);
  const kills = Array.from({ length: rounds }, (_, round) => killOf(site, round, Math.random));
  const perFolder = site === 'start-up' ? STARTS_PER_FOLDER : rounds;
  let sum = NOTHING;
  for (let from = 0; from < rounds; from += perFolder) {
    folders += 1;
    const folder = join(root, `${folders}-${channel}-${site}`);
    const tally = await runSeries({ folder, openSide, kills: kills.slice(from, from + perFolder) });
    sum = addTallies(sum, tally);
  }
  return sum;
}

function printRow(channel: string, site: string, cells: readonly string[]): void {
  const padded = cells.map((cell, index) => cell.padStart(COLUMNS[index]?.[0].length ?? 0));
  console.log(`| ${channel.padEnd(8)} | ${site.padEnd(15)} | ${padded.join(' | ')} |`);
}
