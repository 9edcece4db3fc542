import { BusyPolicy } from '@parley/core';
import { z } from 'zod';
import { Agent, Cron, Heartbeat, Media, Skills, Soul } from './agent-schema.ts';
import { Agents, Owners, Routes } from './agents-schema.ts';
import { Api } from './api-schema.ts';
import { defineChoice, defineSection, numberField, wholeNumber } from './fields.ts';
import { Hooks } from './hooks-schema.ts';
import { Limits, Spend } from './limits-schema.ts';
import { Approvals, Exec, Mcp, Tools, Web } from './tools-schema.ts';

/** `lanes`: what happens to messages that arrive faster than they can be answered (D03). */
const Lanes = defineSection('What happens when messages arrive faster than answers.', {
  busy: BusyPolicy.default('collect').describe(
    'Messages during a turn. collect: answered together afterwards; followup: one by one; steer: join the running turn at its next step; interrupt: end it and are answered with what it was about. Or one of these per kind of chat: { direct: steer, group: collect }, and per channel: { channels: { telegram: steer } }.',
  ),
  collectPauseMs: wholeNumber(
    { min: 0, max: 60_000, default: 500 },
    'How long to wait for more of a burst, in milliseconds.',
  ),
  concurrency: wholeNumber(
    { min: 1, max: 2_000, default: 200 },
    'Turns that one worker runs at the same time, each of another conversation; they mostly wait for models.',
  ),
});

/** The `host:port` of one of several servers; the port may be omitted. */
const Node = z
  .string({ error: 'host:port, such as redis-2.internal:6379' })
  .refine(isYamlNode, 'host:port, such as redis-2.internal:6379');

function isYamlNode(node: string): boolean {
  if (/[/@?#\s]/.test(node)) return false;
  const url = URL.parse(`redis://${node}`);
  return url !== null && url.hostname !== '';
}

const Sentinel = z
  .strictObject({
    name: z.string().min(1).default('mymaster').describe('What the sentinels call the master.'),
    nodes: z.array(Node).min(1).describe('The sentinels: host:port, 26379 without a port.'),
    username: z.string().min(1).optional().describe('For the sentinels themselves.'),
    password: z.string().min(1).optional().describe('For the sentinels themselves.'),
  })
  .describe('Sentinels say which Redis is the master; the host of `url` is not used then.');

const Cluster = z
  .strictObject({
    nodes: z
      .array(Node)
      .default([])
      .describe('More nodes to begin with: host:port, 6379 without a port.'),
  })
  .describe('For a Redis Cluster: `url` is one of its nodes, which names the others.');

/** `queue`: wake-ups and live events between processes. */
const Queue = z
  .strictObject({
    url: z
      .url({ protocol: /^rediss?$/, error: 'a Redis URL, such as redis://127.0.0.1:6379' })
      .optional()
      .describe('Redis (rediss:// with TLS); without it the embedded queue.'),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, dots, _ and -, at most 64')
      .default('parley')
      .describe('Begins all keys, so that several installations can share one Redis.'),
    username: z.string().min(1).optional().describe('Overrides the one in `url`.'),
    password: z.string().min(1).optional().describe('Overrides the one in `url`.'),
    sentinel: Sentinel.optional(),
    cluster: Cluster.optional(),
  })
  .refine(({ url, sentinel, cluster }) => url !== undefined || !(sentinel ?? cluster), {
    path: ['url'],
    error: 'a Redis URL: with `sentinel` or `cluster` it says user, password, TLS and a first node',
  })
  .refine(({ sentinel, cluster }) => !(sentinel && cluster), {
    path: ['sentinel'],
    error: 'nothing: a Redis Cluster chooses its masters without sentinels',
  })
  .prefault({})
  .describe('Wake-ups between processes.');

const Otlp = z
  .strictObject({
    url: z
      .url({
        protocol: /^https?$/,
        error: 'the address of a collector, such as http://127.0.0.1:4318/v1/traces',
      })
      .describe('Of a collector that speaks OTLP over HTTP; usually ends in /v1/traces.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Sent with every request, such as authorization.'),
  })
  .describe('Where traces go; without it there are none.');

/** `telemetry`: OpenTelemetry traces. */
const Telemetry = defineSection(
  'Traces for OpenTelemetry: from a platform’s message to its receipt of the answer.',
  {
    otlp: Otlp.optional(),
    service: z
      .string()
      .min(1)
      .max(100)
      .default('parley')
      .describe('What the installation is called in traces.'),
    share: numberField(
      { min: 0, max: 1, default: 1 },
      'Which share of the messages is traced: 1 is all of them, 0.1 every tenth.',
    ),
  },
);

/**
 * The minimum retention, in days. A platform may deliver a recent message again, and until then the
 * message must be remembered.
 */
const MIN_DAYS = 3;

const days = (standard: number) =>
  z.union([z.number().min(MIN_DAYS), z.literal('forever')]).default(standard);

/** `retention`: how long data is kept in the database (D15). */
const Retention = defineSection(
  'How long things are kept. Recorded prompts have inspector.keepDays.',
  {
    messageDays: days(90).describe(
      'Messages, answers, turns, approvals and runs: what /why, the page and "parley why" show. What is not answered, sent or settled yet stays. A number of days, or forever.',
    ),
    historyDays: days(365).describe(
      'What was said, as the model reads it again; memories and SOUL.md are kept whatever is set here.',
    ),
    decisionDays: days(30).describe('Why messages were not taken.'),
    spendDays: days(400).describe('What was used of models, by day and person.'),
    maxMegabytes: z
      .union([z.number().min(1), z.literal('unlimited')])
      .default(20_000)
      .describe(
        'Of the whole database. Beyond it the oldest is removed first, whatever its age; never what is younger than three days.',
      ),
    everyMinutes: numberField(
      { min: 0.01, max: 24 * 60, default: 10 },
      'How often old rows are looked for.',
    ),
  },
);

const Identity = defineSection(
  'What every agent is called; overrides the agent’s own settings and IDENTITY.md.',
  {
    name: z.string().min(1).max(80).optional().describe('What all agents are called.'),
    role: z.string().min(1).max(200).optional().describe('What they are, in a few words.'),
    emoji: z.string().min(1).max(16).optional().describe('A sign beside their name.'),
  },
);

const Plugin = z
  .union([
    z.string().min(1),
    z.strictObject({
      use: z.string().min(1).describe('A folder, or the name of an installed package.'),
      options: z.record(z.string(), z.unknown()).default({}).describe('For the plugin itself.'),
    }),
  ])
  .transform((plugin) => (typeof plugin === 'string' ? { use: plugin, options: {} } : plugin));

const Inspector = defineSection('The prompts of turns.', {
  keepDays: numberField(
    { min: 0, max: 365, default: 7 },
    'How long prompts are kept for "parley prompt" and the page; 0: not at all.',
  ),
});

const Http = defineSection('Where the web page, health and metrics are served.', {
  host: z.string().min(1).default('127.0.0.1').describe('127.0.0.1: this machine only.'),
  port: wholeNumber({ min: 0, max: 65_535, default: 7411 }, '0 takes any free port.'),
  publicUrl: z
    .url({ protocol: /^https$/, error: 'an https address such as https://parley.example.org' })
    .optional()
    .describe(
      'The address at which platforms on the internet reach this gateway, through your proxy with TLS. Set-up and status then show the whole address that a platform has to call.',
    ),
  token: z
    .string()
    .min(
      32,
      'at least 32 characters: let "openssl rand -hex 24" make it, and refer to a variable with it',
    )
    .optional()
    .describe(
      'The secret of the web page; the same for all gateways. Without it each data folder has its own.',
    ),
  sessions: defineSection('How long a browser stays signed in to the page.', {
    idleHours: numberField(
      { min: 0.25, max: 720, default: 12 },
      'A browser that was not used for so long has to sign in again.',
    ),
    maxDays: numberField(
      { min: 0.01, max: 365, default: 30 },
      'So does any browser after this time.',
    ),
  }),
});

const Log = defineSection('Structured logs.', {
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('The least important lines that are logged; silent logs none.'),
  format: defineChoice(['auto', 'pretty', 'json'], 'auto: pretty in a terminal, JSON elsewhere.'),
  keepMegabytes: wholeNumber(
    { min: 0, max: 1_000, default: 16 },
    'Of log lines in the data folder, for the page and parley logs; 0 keeps none. Counts from the next start.',
  ),
});

const Store = defineSection('Where messages are kept.', {
  url: z
    .url({
      protocol: /^postgres(ql)?$/,
      error: 'a PostgreSQL URL, such as postgres://user@host/parley',
    })
    .optional()
    .describe('PostgreSQL, or PgBouncer before it; without it the embedded SQLite file.'),
  connections: wholeNumber(
    { min: 2, max: 1_000, default: 10 },
    'To PostgreSQL, of each process at most.',
  ),
  connectSeconds: numberField(
    { min: 0.5, max: 60, default: 5 },
    'How long to wait for a connection.',
  ),
  querySeconds: numberField(
    { min: 0.5, max: 600, default: 10 },
    'How long to wait for an answer; then the connection is destroyed.',
  ),
});

/** All settings that belong neither to a model nor to a channel. All have defaults. */
export const CoreSettings = z.strictObject({
  version: wholeNumber(
    { min: 1, default: 1 },
    'Of this file; Parley writes it, and "parley config upgrade" changes it.',
  ),
  identity: Identity,
  agent: Agent,
  skills: Skills,
  tools: Tools,
  approvals: Approvals,
  mcp: Mcp,
  exec: Exec,
  web: Web,
  plugins: z
    .array(Plugin)
    .default([])
    .describe('More tools, skills, prompt layers, hooks and channels.'),
  owners: Owners.default([]).describe('The people the bot belongs to.'),
  agents: Agents,
  routes: Routes,
  heartbeat: Heartbeat,
  cron: Cron,
  hooks: Hooks,
  soul: Soul,
  lanes: Lanes,
  limits: Limits,
  spend: Spend,
  media: Media,
  inspector: Inspector,
  retention: Retention,
  http: Http,
  api: Api,
  log: Log,
  telemetry: Telemetry,
  queue: Queue,
  store: Store,
});
export type CoreSettings = z.infer<typeof CoreSettings>;
