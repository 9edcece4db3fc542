import { BusyPolicy } from '@parley/core';
import { z } from 'zod';
import { Agent, Cron, Heartbeat, Media, Skills, Soul } from './agent-schema.ts';
import { Agents, Owners, Routes } from './agents-schema.ts';
import { Api } from './api-schema.ts';
import { defineChoice, defineSection, numberField, wholeNumber } from './fields.ts';
import { Hooks } from './hooks-schema.ts';
import { Limits, Spend } from './limits-schema.ts';
import { Approvals, Exec, Mcp, Tools, Web } from './tools-schema.ts';

/** `lanes`: how to handle messages that arrive faster than they can be answered (D03). */
const Lanes = defineSection(
  'What happens to messages that arrive faster than they can be answered.',
  {
    busy: BusyPolicy.default('collect').describe(
      'What happens to messages that arrive during a turn. collect: they are answered together afterwards; followup: they are answered one by one; steer: they join the running turn at its next step; interrupt: they end the turn and are answered together with its messages. Can be set per kind of chat: { direct: steer, group: collect }, and per channel: { channels: { telegram: steer } }.',
    ),
    collectPauseMs: wholeNumber(
      { min: 0, max: 60_000, default: 500 },
      'How long to wait for more messages in a burst, in milliseconds.',
    ),
    concurrency: wholeNumber(
      { min: 1, max: 2_000, default: 200 },
      'Turns that one worker runs at the same time, each in a different conversation; they mostly wait for models.',
    ),
  },
);

/** The `host:port` of one of several servers, with an optional port. */
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
    name: z.string().min(1).default('mymaster').describe('Name of the master in the sentinels.'),
    nodes: z.array(Node).min(1).describe('Sentinels as host:port; the default port is 26379.'),
    username: z.string().min(1).optional().describe('User name for the sentinels themselves.'),
    password: z.string().min(1).optional().describe('Password for the sentinels themselves.'),
  })
  .describe('Sentinels that know the current Redis master; if set, the host in `url` is not used.');

const Cluster = z
  .strictObject({
    nodes: z
      .array(Node)
      .default([])
      .describe(
        'Additional nodes for the first connection, as host:port; the default port is 6379.',
      ),
  })
  .describe(
    'Settings for a Redis Cluster: `url` is one of its nodes, which reports the other nodes.',
  );

/** `queue`: wake-ups and live events between processes. */
const Queue = z
  .strictObject({
    url: z
      .url({ protocol: /^rediss?$/, error: 'a Redis URL, such as redis://127.0.0.1:6379' })
      .optional()
      .describe('Redis URL (rediss:// for TLS). Default: the embedded queue.'),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, dots, _ and -, at most 64')
      .default('parley')
      .describe('Prefix for all keys, so that several installations can share one Redis server.'),
    username: z.string().min(1).optional().describe('Overrides the user in `url`.'),
    password: z.string().min(1).optional().describe('Overrides the password in `url`.'),
    sentinel: Sentinel.optional(),
    cluster: Cluster.optional(),
  })
  .refine(({ url, sentinel, cluster }) => url !== undefined || !(sentinel ?? cluster), {
    path: ['url'],
    error:
      'a Redis URL: with `sentinel` or `cluster`, it contains the user, password, TLS and a first node',
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
      .describe('URL of a collector that accepts OTLP over HTTP; usually ends in /v1/traces.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Headers sent with every request, such as authorization.'),
  })
  .describe('Where traces are sent. If this is not set, tracing is off.');

/** `telemetry`: OpenTelemetry traces. */
const Telemetry = defineSection(
  'OpenTelemetry traces, from a platform’s message to its receipt of the answer.',
  {
    otlp: Otlp.optional(),
    service: z
      .string()
      .min(1)
      .max(100)
      .default('parley')
      .describe('Name of the installation in traces.'),
    share: numberField(
      { min: 0, max: 1, default: 1 },
      'The share of messages that is traced: 1 traces all messages, 0.1 every tenth message.',
    ),
  },
);

/** The minimum retention, in days, because a platform may deliver a recent message again. */
const MIN_DAYS = 3;

const days = (standard: number) =>
  z.union([z.number().min(MIN_DAYS), z.literal('forever')]).default(standard);

/** `retention`: how long data is kept in the database (D15). */
const Retention = defineSection(
  'How long data is kept. Recorded prompts have inspector.keepDays instead.',
  {
    messageDays: days(90).describe(
      'Messages, answers, turns, approvals and runs, as shown by /why, the page and "parley why". Unfinished work is always kept. Either a number of days, or forever.',
    ),
    historyDays: days(365).describe(
      'The conversation history that the model reads. Memories and SOUL.md are always kept.',
    ),
    decisionDays: days(30).describe('Why messages were not accepted.'),
    spendDays: days(400).describe('Model usage by day and person.'),
    maxMegabytes: z
      .union([z.number().min(1), z.literal('unlimited')])
      .default(20_000)
      .describe(
        'Maximum size of the whole database. If it is exceeded, the oldest data is removed first, except data younger than three days.',
      ),
    everyMinutes: numberField(
      { min: 0.01, max: 24 * 60, default: 10 },
      'How often old rows are removed.',
    ),
  },
);

const Identity = defineSection(
  'The name of all agents, which overrides their own settings and IDENTITY.md.',
  {
    name: z.string().min(1).max(80).optional().describe('The name of all agents.'),
    role: z.string().min(1).max(200).optional().describe('The role of all agents, in a few words.'),
    emoji: z
      .string()
      .min(1)
      .max(16)
      .optional()
      .describe('An emoji shown beside the name of all agents.'),
  },
);

const Plugin = z
  .union([
    z.string().min(1),
    z.strictObject({
      use: z.string().min(1).describe('A folder, or the name of an installed package.'),
      options: z
        .record(z.string(), z.unknown())
        .default({})
        .describe('Options passed to the plugin.'),
    }),
  ])
  .transform((plugin) => (typeof plugin === 'string' ? { use: plugin, options: {} } : plugin));

const Inspector = defineSection('The recorded prompts of turns.', {
  keepDays: numberField(
    { min: 0, max: 365, default: 7 },
    'How long prompts are kept for "parley prompt" and the page; 0 keeps none.',
  ),
});

const Http = defineSection('Where the web page, health checks and metrics are served.', {
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('127.0.0.1 allows connections from this machine only.'),
  port: wholeNumber(
    { min: 0, max: 65_535, default: 7411 },
    'The port to listen on; 0 selects any free port.',
  ),
  publicUrl: z
    .url({ protocol: /^https$/, error: 'an https address such as https://parley.example.org' })
    .optional()
    .describe(
      'The address at which platforms on the internet reach this gateway, through your TLS proxy. Set-up and status then show the whole address that a platform has to call.',
    ),
  token: z
    .string()
    .min(
      32,
      'at least 32 characters: create one with "openssl rand -hex 24", and refer to it with a variable',
    )
    .optional()
    .describe(
      "The web page's secret, which must be the same for all gateways. Default: a separate secret for each data folder.",
    ),
  sessions: defineSection('How long a browser stays signed in to the page.', {
    idleHours: numberField(
      { min: 0.25, max: 720, default: 12 },
      'A browser that was not used for this long must sign in again.',
    ),
    maxDays: numberField(
      { min: 0.01, max: 365, default: 30 },
      'Every browser must sign in again after this time.',
    ),
  }),
});

const Log = defineSection('Structured logs.', {
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Minimum level of logged lines; silent logs none.'),
  format: defineChoice(['auto', 'pretty', 'json'], 'auto: pretty in a terminal, JSON elsewhere.'),
  keepMegabytes: wholeNumber(
    { min: 0, max: 1_000, default: 16 },
    'Size of the log stored in the data folder, for the page and parley logs; 0 stores none. Takes effect at the next start.',
  ),
});

const Store = defineSection('Where messages are stored.', {
  url: z
    .url({
      protocol: /^postgres(ql)?$/,
      error: 'a PostgreSQL URL, such as postgres://user@host/parley',
    })
    .optional()
    .describe(
      'URL of PostgreSQL, or of a PgBouncer in front of it. Default: the embedded SQLite file.',
    ),
  connections: wholeNumber(
    { min: 2, max: 1_000, default: 10 },
    'Maximum number of PostgreSQL connections per process.',
  ),
  connectSeconds: numberField(
    { min: 0.5, max: 60, default: 5 },
    'How long to wait for a connection.',
  ),
  querySeconds: numberField(
    { min: 0.5, max: 600, default: 10 },
    'How long to wait for a query result before the connection is destroyed.',
  ),
});

const Upgrade = defineSection('Where "parley upgrade VERSION" finds new versions.', {
  url: z
    .url({
      protocol: /^https?$/,
      error: 'an address such as https://example.org/parley-{version}.tgz',
    })
    .refine((url) => /\{version\}|%7Bversion%7D/i.test(url), 'an address that contains {version}')
    .optional()
    .describe(
      'Address of the packed releases, with {version} in place of the version; the checksum is at the same address with .sha256 at the end. Default: none, so that only files can be named.',
    ),
});

/** All settings that belong neither to a model nor to a channel; all have defaults. */
export const CoreSettings = z.strictObject({
  version: wholeNumber(
    { min: 1, default: 1 },
    'Version of this file; Parley writes it, and "parley config upgrade" changes it.',
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
    .describe('Additional tools, skills, prompt layers, hooks and channels.'),
  owners: Owners.default([]).describe('The owners of the bot.'),
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
  upgrade: Upgrade,
});
export type CoreSettings = z.infer<typeof CoreSettings>;
