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
        'at least 32 characters: let "openssl rand -hex 24" make it, and refer to a variable with it',
      )
      .max(200)
      .describe('The secret that the sender proves to know; of this hook alone.'),
    action: defineChoice(
      ['job', 'heartbeat'],
      'job: the instruction is carried out, with the event as untrusted data; heartbeat: a standing task of HEARTBEAT.md runs at once.',
    ),
    instruction: z
      .string()
      .min(1)
      .max(8_000)
      .optional()
      .describe('What is to be done with each event; for job.'),
    task: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Which standing task runs; for heartbeat. Without it the most overdue one.'),
    target: z
      .string()
      .min(1)
      .max(300)
      .default('last')
      .describe(
        'Where the answer goes: last, the direct chat in which an owner wrote last; an owner such as telegram:123456789; a name of tools.message.chats; or a group such as telegram:-100123. For job.',
      ),
    agent: z.string().min(1).max(64).optional().describe('Whose work it is, if not the default.'),
    perMinute: wholeNumber(
      { min: 1, max: 1_000, default: 10 },
      'Events that are taken in a minute; more are refused.',
    ),
    maxBytes: wholeNumber(
      { min: 1_000, max: 1_000_000, default: 65_536 },
      'Larger events are refused.',
    ),
    maxCharacters: wholeNumber(
      { min: 500, max: 200_000, default: 16_000 },
      'What the model is shown of an event.',
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
      .describe('Only these parts of a JSON event are shown to the model; without it all.'),
  })
  .refine(({ action, instruction }) => action !== 'job' || instruction !== undefined, {
    path: ['instruction'],
    error: 'instructions for each event',
  })
  .refine(({ action, task }) => action !== 'job' || task === undefined, {
    path: ['task'],
    error: 'nothing: a job has an instruction; `task` is for action: heartbeat',
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
  .describe('Events of other programs: POST /hooks/NAME runs a job or wakes the heartbeat.');
