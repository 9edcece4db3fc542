import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { createChance, type RandomChance } from '../privacy/chance.ts';
import type { Deployment, DeploymentName } from './deployment.ts';
import { chooseKill, type KillDepth, type KillSite } from './kill.ts';
import { Killer } from './killer.ts';
import { QuestionLoad } from './load.ts';
import { openDeployment } from './open-deployment.ts';
import { type ChatCounts, closeSides, openSides } from './people.ts';
import { CHANNELS, type ChannelName, type CrashSide } from './side.ts';
import { type ChannelTally, tallyChannel } from './tally.ts';
import { createReply, findAskedQuestions, type Question } from './words.ts';

/** The options of a series of kills. */
export interface SeriesOptions {
  readonly deployment: DeploymentName;
  /** Empty or absent at first; afterwards it contains the data left by Parley. */
  readonly folder: string;
  readonly people: ChatCounts;
  /** The total number of questions; more if not all sites have been killed by then. */
  readonly questions: number;
  /**
   * The sites are killed in this order, repeatedly, until all questions have been asked and each
   * site has been killed at least `rounds` times.
   */
  readonly sites: readonly KillSite[];
  readonly rounds: number;
  /** By default `several lives`. */
  readonly depth?: KillDepth;
  /** The pause between two bursts of questions, in ms. */
  readonly pauseMs: number;
  /**
   * The maximum number of questions per channel that wait for the model; its people then stop
   * asking.
   */
  readonly mostWaiting: number;
  /** The number of questions that must reach the model between two kills. */
  readonly heardBetween: number;
  /** Determines the questions and the kills; the timing depends on the machine. */
  readonly seed: number;
  readonly note?: (line: string) => void;
}

/** The result of a series. */
export interface SeriesResult {
  readonly killed: ReadonlyMap<KillSite, number>;
  readonly tallies: ReadonlyMap<ChannelName, ChannelTally>;
  /**
   * The last output of processes that exited by themselves after startup; the list must be empty.
   */
  readonly crashes: readonly string[];
  /**
   * The number of turns that were given up. Their questions count as lost, because the series
   * killed processes too often.
   */
  readonly givenUp: number | null;
  /** The number of failed starts; starts may fail while the database is down. */
  readonly failedStarts: number;
  /** The number of model calls that repeat an earlier one: the cost of kills. */
  readonly askedAgain: number;
  readonly ms: number;
}

/** Short enough that bursts become several turns, and long enough to be interrupted by a kill. */
const THINKING_MS = 40;
/**
 * The next kill waits while a running turn has been started more often than this, because a turn is
 * given up after five starts, and `start-up` alone kills four times.
 */
const MAX_BEGUN = 1;
/**
 * The next kill happens after this time (ms) even if turns or questions have not progressed far
 * enough.
 */
const PROGRESS_WITHIN_MS = 60_000;
/** After this time without progress, missing answers count as lost. */
const TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 250;

/**
 * Kills a deployment repeatedly while people ask, lets it finish its work, and counts the results.
 */
export async function runSeries(options: SeriesOptions): Promise<SeriesResult> {
  const began = Date.now();
  const scene = await openScene(options);
  const { deployment, load, killer, sides } = scene;
  try {
    for (const one of deployment.processes) one.start();
    // First starts require an empty database.
    const firstDeaths = await killer.run(chooseKill('start-up', scene.chance, options.depth));
    await scene.connected();
    options.note?.(`all is connected after ${Date.now() - began} ms, ${firstDeaths} died`);
    await load.askAll();
    await waitUntilSettled(scene);
    options.note?.(`everyone is known after ${Date.now() - began} ms`);
    const killed = await killWhileAsking(options, scene);
    await waitUntilSettled(scene);
    const tallies = await tallyChannels(scene);
    const givenUp = await deployment.stored.givenUp();
    const words = await Promise.all(deployment.processes.map((one) => one.end()));
    const crashes = deployment.processes.flatMap((one) => one.crashes);
    return {
      killed,
      tallies,
      givenUp,
      crashes: [...crashes, ...words.filter((word) => word !== null)],
      failedStarts: deployment.processes.reduce((sum, one) => sum + one.failedStarts.length, 0),
      askedAgain: scene.askedAgain(),
      ms: Date.now() - began,
    };
  } finally {
    await deployment.close();
    await Promise.all([closeSides(sides), scene.model.close()]);
  }
}

interface CrashScene {
  readonly sides: readonly CrashSide[];
  readonly deployment: Deployment;
  readonly load: QuestionLoad;
  readonly killer: Killer;
  readonly model: ModelDouble;
  readonly chance: RandomChance;
  /**
   * Resolves when every channel is connected by a running process, since the first process may have
   * been killed during startup.
   */
  connected(): Promise<void>;
  askedAgain(): number;
}

async function openScene(options: SeriesOptions): Promise<CrashScene> {
  const sides = await openSides(options.people, options.deployment, options.folder);
  const { pauseMs, mostWaiting } = options;
  const chance = createChance(options.seed + 1);
  const load = new QuestionLoad({
    sides,
    chance: createChance(options.seed),
    mostWaiting,
    pauseMs,
  });
  let replies = 0;
  let again = 0;
  const known = new Set<string>();
  const model = await startModelDouble({
    latencyMs: THINKING_MS,
    reply(request) {
      replies += 1;
      const questions = findAskedQuestions(request);
      load.hear(questions);
      const name = formatQuestionNames(questions);
      if (known.has(name)) again += 1;
      known.add(name);
      killer.requested();
      return createReply(request, replies);
    },
  });
  const channels = CHANNELS.filter((name) => sides.some((side) => side.channel === name));
  const deployment = await openDeployment(options.deployment, {
    root: options.folder,
    settings: createSettings(sides, model.baseUrl),
    hear(report) {
      if (report.kind === 'pairing') for (const side of sides) side.scan?.(report.code);
    },
  });
  const killer = new Killer(deployment, chance);
  const scene = { sides, deployment, load, killer, model, chance };
  const connected = async (): Promise<void> => {
    const isServed = (name: string) => deployment.processes.some((one) => one.isConnected(name));
    while (!channels.every(isServed)) await sleep(POLL_INTERVAL_MS);
  };
  return { ...scene, connected, askedAgain: () => again };
}

/**
 * Returns the number of kills at each site. People ask until the last kill, and at least once per
 * channel.
 */
async function killWhileAsking(
  { sites, rounds, depth, questions, heardBetween, note }: SeriesOptions,
  scene: CrashScene,
): Promise<ReadonlyMap<KillSite, number>> {
  const { chance, killer, load } = scene;
  const began = Date.now();
  let isOver = false;
  const everyChannelAsked = () =>
    scene.sides.every(({ senders }) => senders.some((one) => (load.asked.get(one) ?? 0) > 1));
  const asking = load.askUntil(() => isOver && everyChannelAsked());
  const killed = new Map<KillSite, number>(sites.map((site) => [site, 0]));
  for (let round = 0; round < rounds || load.total < questions; round += 1) {
    for (const site of sites) {
      if (round >= rounds && load.total >= questions) break;
      const died = await killer.run(chooseKill(site, chance, depth));
      killed.set(site, (killed.get(site) ?? 0) + died);
      note?.(
        `${Math.round((Date.now() - began) / 1_000)} s ${site}: ${died} died; ${load.total} asked, ${load.waiting} wait`,
      );
      await waitForProgress(scene, heardBetween);
    }
  }
  isOver = true;
  await asking;
  return killed;
}

async function waitForProgress(
  { load, deployment }: CrashScene,
  heardBetween: number,
): Promise<void> {
  const heard = () => load.total - load.waiting;
  const enough = heard() + heardBetween;
  const late = Date.now() + PROGRESS_WITHIN_MS;
  const mayGoOn = async () =>
    heard() >= enough && ((await deployment.stored.mostBegun()) ?? 0) <= MAX_BEGUN;
  while (Date.now() < late && !(await mayGoOn())) await sleep(POLL_INTERVAL_MS);
}

/** Waits until everything is delivered and completed; gives up when there is no more progress. */
async function waitUntilSettled({ sides, deployment, load, model }: CrashScene): Promise<void> {
  let last = '';
  let movedAt = Date.now();
  while (Date.now() - movedAt < TIMEOUT_MS) {
    const left = await deployment.stored.unfinished();
    const allDelivered = sides.every((side) => side.allDelivered());
    if (left === 0 && allDelivered && load.waiting === 0) return;
    const now = `${left} ${load.waiting} ${model.total}`;
    if (now !== last) movedAt = Date.now();
    last = now;
    await sleep(POLL_INTERVAL_MS);
  }
}

async function tallyChannels({
  sides,
  deployment,
  load,
}: CrashScene): Promise<Map<ChannelName, ChannelTally>> {
  const ended = await deployment.stored.endedParts();
  const tallies = new Map<ChannelName, ChannelTally>();
  for (const side of sides) {
    const chats = await side.look();
    tallies.set(side.channel, tallyChannel(side.channel, chats, { asked: load.asked, ended }));
  }
  return tallies;
}

function formatQuestionNames(questions: readonly Question[]): string {
  return questions.map(({ sender, number }) => `${sender}-${number}`).join(' ');
}

function createSettings(sides: readonly CrashSide[], modelUrl: string): object {
  return {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: Object.fromEntries(sides.map(({ channel, settings }) => [channel, settings])),
    lanes: { collectPauseMs: 30 },
    http: { port: 0 },
    // A few people ask thousands of questions.
    spend: { perStrangerDaily: 'off' },
    log: { level: 'warn', format: 'json' },
  };
}
