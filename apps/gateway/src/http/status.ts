import { z } from 'zod';

const Count = z.int().nonnegative();

const PluginLine = z.object({
  /** False: it, or a part of it, does not work. */
  works: z.boolean(),
  line: z.string(),
});
export type PluginLine = Readonly<z.infer<typeof PluginLine>>;

/** What `GET /api/status` and `parley status` tell besides the channels. */
const StatusReport = z.object({
  agent: z.string(),
  model: z.string(),
  dataFolder: z.string(),
  plugins: z.array(PluginLine).readonly(),
  /** The same of MCP servers. */
  mcp: z.array(PluginLine).readonly().default([]),
  /** Where several share the database: all of them. */
  processes: z
    .array(
      z.object({
        role: z.string(),
        host: z.string(),
        pid: z.int(),
        address: z.string(),
        version: z.string(),
        startedAt: z.number(),
        /** In what it does not fit the others. */
        notes: z.array(z.string()).readonly().default([]),
      }),
    )
    .readonly()
    .default([]),
  /** What is wrong with the database, and what to do about it. */
  trouble: z.string().optional(),
  /** The last 24 hours. This and the figures below are absent where the database cannot be read. */
  turns: z
    .object({
      answered: Count,
      failed: Count,
      stopped: Count,
      inputTokens: Count,
      outputTokens: Count,
      /** US dollars, as far as prices are known. */
      costUsd: z.number(),
    })
    .optional(),
  /** Since midnight in the time zone of the agent (G17). */
  today: z.object({ tokens: Count, costUsd: z.number(), people: Count, groups: Count }).optional(),
  outbox: z
    .object({ pending: Count, sending: Count, sent: Count, unknown: Count, failed: Count })
    .optional(),
  /** What was given up and nobody has replayed or dropped (D06). */
  dead: z.object({ refused: Count, uncertain: Count, unanswered: Count }).optional(),
});
export type StatusReport = z.infer<typeof StatusReport>;

const ChannelState = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('starting') }),
  z.object({ kind: z.literal('pairing'), code: z.string() }),
  z.object({ kind: z.literal('connected'), as: z.string() }),
  z.object({ kind: z.literal('standby'), holder: z.string() }),
  z.object({ kind: z.literal('retrying'), reason: z.string(), nextAttemptAt: z.number() }),
  z.object({ kind: z.literal('failed'), reason: z.string(), fix: z.string() }),
  z.object({ kind: z.literal('stopped') }),
]);

/** The whole answer of `GET /api/status`. */
export const GatewayStatus = StatusReport.extend({
  health: z.object({
    status: z.enum(['ready', 'degraded', 'down']),
    reasons: z.array(z.string()),
  }),
  channels: z.array(z.object({ channel: z.string(), account: z.string(), state: ChannelState })),
});
export type GatewayStatus = z.infer<typeof GatewayStatus>;
