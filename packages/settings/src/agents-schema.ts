import { z } from 'zod';
import { Agent, AgentName, Heartbeat, Skills, Soul } from './agent-schema.ts';
import { ACCOUNT_NAME } from './channels.ts';
import { Person } from './fields.ts';
import { Spend } from './limits-schema.ts';
import { Approvals, Tools } from './tools-schema.ts';

export const Owners = z.array(Person.describe('An owner of the bot, as channel:userId.'));

type ZodSection = z.ZodPrefault<z.ZodObject>;

/** Removes the defaults from a section's keys, because the value of a missing key is inherited. */
function stripDefaults(section: ZodSection): Readonly<Record<string, z.ZodType>> {
  const entries = Object.entries(section.unwrap().shape).map(([key, schema]) => {
    const { description } = z.globalRegistry.get(schema) ?? {};
    const hasDefault = schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
    const field = z.optional(hasDefault ? schema.unwrap() : schema);
    return [key, description === undefined ? field : field.describe(description)];
  });
  return Object.fromEntries(entries);
}

const inherited = (section: ZodSection, description: string) =>
  z.strictObject(stripDefaults(section)).optional().describe(description);

const { id: _, ...ownKeys } = stripDefaults(Agent);

/**
 * One additional agent. Its keys do not have defaults: `deriveAgents` determines the inherited
 * values.
 */
const OtherAgent = z
  .strictObject({
    ...ownKeys,
    delegates: Agent.unwrap()
      .shape.delegates.unwrap()
      .optional()
      .describe(
        'Other agents to which this agent may delegate a task; it receives only their results.',
      ),
    /** The models' own schema validates this key. */
    model: z.union([z.string().min(1), z.record(z.string(), z.unknown())]).optional(),
    tools: inherited(Tools, "The agent's tools; missing keys are taken from `tools`."),
    skills: inherited(Skills, "The agent's skills; missing keys are taken from `skills`."),
    heartbeat: inherited(
      Heartbeat,
      "The agent's standing tasks; missing keys are taken from `heartbeat`.",
    ),
    soul: inherited(
      Soul,
      "How the agent's SOUL.md may change; missing keys are taken from `soul`.",
    ),
    approvals: inherited(
      Approvals,
      'Which calls need approval; missing keys are taken from `approvals`.',
    ),
    spend: inherited(Spend, 'Caps for this agent only; those in `spend` apply as well.'),
    owners: Owners.optional().describe('The owners of this agent, instead of those in `owners`.'),
  })
  .describe(
    'An agent. Missing keys are inherited, except those that define the default agent itself.',
  );

/** `agents`: additional agents by name, in addition to the default agent in `agent` (F14). */
export const Agents = z
  .record(AgentName, OtherAgent)
  .default({})
  .describe('Additional agents by name, each with a separate workspace, memory and history.');

const ROUTE_KEYS = ['person', 'chat', 'account', 'channel'] as const;

/**
 * `routes`: which agent answers in which chat. The most specific rule applies: person, chat,
 * account, channel, none (F14).
 */
export const Routes = z
  .array(
    z
      .strictObject({
        agent: AgentName.describe('The agent that answers: agent.id, or a key in `agents`.'),
        person: Person.optional().describe(
          'Messages from this person, such as telegram:123456789.',
        ),
        chat: z
          .string()
          .regex(/^[a-z][a-z0-9-]*:\S+$/, 'channel:chatId, such as telegram:-1001234567890')
          .optional()
          .describe('Messages in this chat, such as telegram:-1001234567890.'),
        account: z
          .string()
          .regex(
            new RegExp(`^[a-z][a-z0-9-]*/${ACCOUNT_NAME.source.slice(1)}`),
            'channel/account, such as telegram/helpdesk',
          )
          .optional()
          .describe('Messages to this account of the bot, such as telegram/helpdesk.'),
        channel: z
          .string()
          .regex(/^[a-z][a-z0-9-]*$/, 'a channel, such as telegram')
          .optional()
          .describe('Messages on this channel, such as telegram.'),
      })
      .refine((route) => ROUTE_KEYS.filter((key) => route[key] !== undefined).length <= 1, {
        error: `at most one of ${ROUTE_KEYS.join(', ')} together with agent`,
      }),
  )
  .max(1_000)
  .default([])
  .describe(
    'Which agent answers which messages. The most specific rule applies: person, chat, account, channel, or a rule without any of these, which replaces the default agent.',
  );
export type Route = z.infer<typeof Routes>[number];

/** Describes which messages a rule applies to, such as `chat telegram:-100`. */
export function describeRoute(route: Route): string {
  const key = ROUTE_KEYS.find((one) => route[one] !== undefined);
  return key === undefined ? 'everything else' : `${key} ${route[key]}`;
}
