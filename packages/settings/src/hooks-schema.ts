import { z } from 'zod';
import { defineChoice, flag, wholeNumber } from './fields.ts';

/**
 * A path such as `alerts[*].labels.alertname`: keys, `[0]` for one item of a list, `[*]` for all.
 */
const FieldPath = z
  .string()
  .max(200)
  .regex(
    /^[^.[\]\s]+(\.[^.[\]\s]+|\[(\d{1,6}|\*)\])*$/,
    'a path in the JSON, such as workflow_run.conclusion or alerts[*].status',
  );

const Hook = z
  .strictObject({
    token: z
      .string()
      .min(
        32,
        'at least 32 characters: create one with "openssl rand -hex 24", and refer to it with a variable',
      )
      .max(200)
      .describe(
        'The shared secret with which the sender authenticates; use a separate one for each hook.',
      ),
    action: defineChoice(
      ['job', 'heartbeat'],
      'job: the instructions are carried out, with the event as untrusted data; heartbeat: a standing task in HEARTBEAT.md runs immediately.',
    ),
    instruction: z
      .string()
      .min(1)
      .max(8_000)
      .optional()
      .describe('Instructions for the agent about each event, for job.'),
    task: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('The standing task to run, for heartbeat. Default: the most overdue one.'),
    target: z
      .string()
      .min(1)
      .max(300)
      .default('last')
      .describe(
        'Where the answer is sent, for job: last for the direct chat in which an owner wrote most recently; an owner such as telegram:123456789; a name in tools.message.chats; or a group such as telegram:-100123.',
      ),
    agent: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('The agent that handles events. Default: the default agent.'),
    perMinute: wholeNumber(
      { min: 1, max: 1_000, default: 10 },
      'Maximum number of events per minute; further events are refused.',
    ),
    maxBytes: wholeNumber(
      { min: 1_000, max: 1_000_000, default: 65_536 },
      'Maximum size of an event; larger events are refused.',
    ),
    maxCharacters: wholeNumber(
      { min: 500, max: 200_000, default: 16_000 },
      'Maximum number of characters from an event that the model is shown.',
    ),
    signature: flag(
      false,
      'true: an event may be signed with the token instead of carrying it, as GitHub does (X-Hub-Signature-256).',
    ),
    fields: z
      .array(FieldPath)
      .min(1)
      .max(50)
      .optional()
      .describe('The parts of a JSON event that the model is shown. Default: the whole event.'),
  })
  .refine(({ action, instruction }) => action !== 'job' || instruction !== undefined, {
    path: ['instruction'],
    error: 'instructions for each event',
  })
  .refine(({ action, task }) => action !== 'job' || task === undefined, {
    path: ['task'],
    error: 'nothing here: a job has instructions; `task` is for action: heartbeat',
  });

/** `hooks`: events from outside (H09), by the name in their URL. */
export const Hooks = z
  .record(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, _ and -, at most 40'),
    Hook,
  )
  .default({})
  .describe('Events from other programs: POST /hooks/NAME runs a job or starts a heartbeat.');
