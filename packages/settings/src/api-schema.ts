import { z } from 'zod';
import { AgentName } from './agent-schema.ts';
import { defineChoice, defineSection, flag, numberField } from './fields.ts';

/**
 * The format of a client's name, which is part of its person id (`api:laptop`) and of its chat ids.
 */
const CLIENT_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const ApiClient = z.strictObject({
  token: z
    .string()
    .min(
      32,
      'at least 32 characters: let "openssl rand -hex 24" make it, and refer to a variable with it',
    )
    .describe('What the client sends as "Authorization: Bearer …" (its API key).'),
  agent: AgentName.optional().describe('The agent it talks to; the default agent without this.'),
  owner: flag(
    false,
    'true: who has the token speaks as the owner, with the main session and all that is private. false: as a guest, api:NAME.',
  ),
  conversations: defineChoice(
    ['one', 'per-request'],
    'one: Parley keeps the history: one lasting conversation, or one for each `user` and each header X-Parley-Conversation; of the messages in a request the last ones of the user are new. per-request: the client keeps it: each request is a conversation of its own with the messages it sends.',
  ),
});

function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** `api`: the gateway as an OpenAI-compatible server. */
export const Api = defineSection(
  'Programs that talk to the agent as to a model of OpenAI: POST /v1/chat/completions.',
  {
    clients: z
      .record(
        z
          .string()
          .regex(
            CLIENT_NAME,
            'a name of lower-case letters, digits, - and _, at most 32 characters',
          ),
        ApiClient,
      )
      .refine((clients) => {
        const tokens = Object.values(clients).map(({ token }) => token);
        return new Set(tokens).size === tokens.length;
      }, 'a token of its own for each client')
      .default({})
      .describe('By name; without one there is no API.'),
    origins: z
      .array(
        z
          .string()
          .refine(
            isOrigin,
            'an exact origin such as "https://app.example.org": scheme, host and port, without a path or *',
          ),
      )
      .max(100)
      .default([])
      .describe(
        'Web pages that may call the API from the browser (CORS), by their exact origin. Whoever opens such a page sees the token that it uses.',
      ),
    waitSeconds: numberField(
      { min: 1, max: 3_600, default: 240 },
      'How long a request waits for its answer. The answer is kept: the same request with the same Idempotency-Key gets it later.',
    ),
  },
);
