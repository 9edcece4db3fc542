import { z } from 'zod';
import { Agent, AgentName, Heartbeat, Skills, Soul } from './agent-schema.ts';
import { ACCOUNT_NAME } from './channels.ts';
import { Person } from './fields.ts';
import { Spend } from './limits-schema.ts';
import { Approvals, Tools } from './tools-schema.ts';

export const Owners = z.array(Person.describe('A person the bot belongs to: channel:userId.'));

type ZodSection = z.ZodPrefault<z.ZodObject>;

/**
 * The keys of a section without their defaults, because the value of a missing key is inherited.
 */
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

/** One additional agent. No key has a default: `deriveAgents` determines what is inherited. */
const OtherAgent = z
  .strictObject({
    ...ownKeys,
    delegates: Agent.unwrap()
      .shape.delegates.unwrap()
      .optional()
      .describe('Other agents that it may give a task to; it gets their results alone.'),
    /** Validated against the schema of the models. */
    model: z.union([z.string().min(1), z.record(z.string(), z.unknown())]).optional(),
    tools: inherited(Tools, 'Its tools; keys that are left out as in `tools`.'),
    skills: inherited(Skills, 'Its skills; keys that are left out as in `skills`.'),
    heartbeat: inherited(Heartbeat, 'Its standing tasks; what is left out as in `heartbeat`.'),
    soul: inherited(Soul, 'How its SOUL.md may change; what is left out as in `soul`.'),
    approvals: inherited(Approvals, 'What it asks for; keys that are left out as in `approvals`.'),
    spend: inherited(Spend, 'Caps of this agent alone; those of `spend` hold as well.'),
    owners: Owners.optional().describe('The people it belongs to, instead of `owners`.'),
  })
  .describe(
    'An agent; what is left out is inherited, but for what makes the default agent itself.',
  );

/** `agents`: additional agents by name, besides the default one in `agent` (F14). */
export const Agents = z
  .record(AgentName, OtherAgent)
  .default({})
  .describe('More agents by name, each with a workspace, memory and history of its own.');

const ROUTE_KEYS = ['person', 'chat', 'account', 'channel'] as const;

/**
 * `routes`: which agent answers where. The most specific rule wins: person, chat, account, channel,
 * none (F14).
 */
export const Routes = z
  .array(
    z
      .strictObject({
        agent: AgentName.describe('The agent that answers: agent.id, or a key of `agents`.'),
        person: Person.optional().describe('What this person writes, such as telegram:123456789.'),
        chat: z
          .string()
          .regex(/^[a-z][a-z0-9-]*:\S+$/, 'channel:chatId, such as telegram:-1001234567890')
          .optional()
          .describe('In this chat, such as telegram:-1001234567890.'),
        account: z
          .string()
          .regex(
            new RegExp(`^[a-z][a-z0-9-]*/${ACCOUNT_NAME.source.slice(1)}`),
            'channel/account, such as telegram/helpdesk',
          )
          .optional()
          .describe('On this account of the bot, such as telegram/helpdesk.'),
        channel: z
          .string()
          .regex(/^[a-z][a-z0-9-]*$/, 'a channel, such as telegram')
          .optional()
          .describe('On this channel, such as telegram.'),
      })
      .refine((route) => ROUTE_KEYS.filter((key) => route[key] !== undefined).length <= 1, {
        error: `one of ${ROUTE_KEYS.join(', ')} beside agent, or none of them`,
      }),
  )
  .max(1_000)
  .default([])
  .describe(
    'Which agent answers where; the most specific rule wins: person, chat, account, channel, and one without any of them, which replaces the default agent.',
  );
export type Route = z.infer<typeof Routes>[number];

/** What a rule applies to, such as `chat telegram:-100`. */
export function describeRoute(route: Route): string {
  const key = ROUTE_KEYS.find((one) => route[one] !== undefined);
  return key === undefined ? 'everything else' : `${key} ${route[key]}`;
}
