import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inNewFolder } from './bench-room.ts';
import { BUSY_DAY, OWNER, TALKING_GROUP } from './day.ts';
import { startModelSide, startTelegramSide } from './doubles.ts';
import {
  type Installation,
  nameOf,
  startInstallation,
  type Topology,
  tokenOf,
} from './installation.ts';
import { type Sample, sampleOf } from './soak-sample.ts';
import { settingsFor } from './subject.ts';

/** What a day came to on one deployment. */
export interface SoakFigures {
  readonly topology: string;
  readonly minutes: number;
  readonly samples: readonly Sample[];
}

const TOPOLOGIES: readonly Topology[] = [{ kind: 'embedded' }, { kind: 'roles', workers: 1 }];
const SAMPLE_MS = 30_000;
/** What was written last is answered before the last look. */
const AFTERWARDS_MS = 10_000;
const MAIL = '## mail\n- every: 30 min\n- do: Look through new mail.\n';

/** Lets a day of traffic go by in so many minutes, on both deployments at the same time. */
export async function measureSoak({ minutes }: { minutes: number }): Promise<SoakFigures[]> {
  return Promise.all(TOPOLOGIES.map((topology) => soak(topology, minutes)));
}

async function soak(topology: Topology, minutes: number): Promise<SoakFigures> {
  return inNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const model = await startModelSide(50);
    opened.defer(model.close);
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const workspace = join(folder, 'data/workspace');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'HEARTBEAT.md'), MAIL);
    const settings = busySettings({ telegram, modelUrl: model.baseUrl });
    const installation = await startInstallation({ topology, folder, settings });
    opened.defer(installation.stop);
    await telegram.firstPoll();
    const day = Promise.all([
      telegram.day(minutes * 60_000),
      writeOnPage(installation, minutes * 60_000),
    ]);
    const samples = await watch(installation, day);
    return { topology: nameOf(topology), minutes, samples };
  });
}

function busySettings(where: Parameters<typeof settingsFor>[0]): object {
  const settings = settingsFor(where);
  const access = { direct: 'open', groups: 'allowlist', allowGroups: [TALKING_GROUP] };
  return {
    ...settings,
    owners: [`telegram:${OWNER}`],
    agent: { timeZone: 'UTC' },
    heartbeat: { quietHours: 'off', tokensPerDay: 100_000_000 },
    channels: { telegram: { ...settings.channels.telegram, access } },
  };
}

/** Somebody writes on the page all day. */
async function writeOnPage(installation: Installation, ms: number): Promise<void> {
  const [address = ''] =
    /http:\/\/[\d.]+:\d+/.exec(installation.processes[0]?.output() ?? '') ?? [];
  const headers = {
    authorization: `Bearer ${tokenOf(installation)}`,
    'content-type': 'application/json',
  };
  const messages = BUSY_DAY['messages on the page'];
  for (let number = 1; number <= messages; number += 1) {
    await pause(ms / messages);
    const body = JSON.stringify({ id: randomUUID(), text: `And on the page, number ${number}?` });
    const url = `${address}/channels/web/default/messages`;
    const { ok, status } = await fetch(url, { method: 'POST', headers, body });
    if (!ok) throw new Error(`The page was answered ${status}.`);
  }
}

/** Looks every 30 s until the day is over, and once more a little later. */
async function watch(installation: Installation, day: Promise<unknown>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const begun = performance.now();
  const look = async () => {
    samples.push(await sampleOf(installation, performance.now() - begun));
  };
  let over = false;
  const ended = day.finally(() => {
    over = true;
  });
  while (!over) {
    await Promise.race([ended, pause(SAMPLE_MS)]);
    await look();
  }
  await ended;
  await pause(AFTERWARDS_MS);
  await look();
  return samples;
}
