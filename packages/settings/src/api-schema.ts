import { z } from 'zod';
import { AgentName } from './agent-schema.ts';
import { defineChoice, defineSection, flag, numberField } from './fields.ts';

/**
 * The format of a client's name, which becomes part of its person id (`api:laptop`) and of its chat
 * ids.
 */
const CLIENT_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const ApiClient = z.strictObject({
  token: z
    .string()
    .min(
      32,
      'at least 32 characters: create one with "openssl rand -hex 24", and refer to it with a variable',
    )
    .describe('The token that the client sends as "Authorization: Bearer …" (its API key).'),
  agent: AgentName.optional().describe(
    'The agent with which the client talks. Default: the default agent.',
  ),
  owner: flag(
    false,
    'true: a client with the token acts as the owner, with the main session and all private data. false: as a guest, api:NAME.',
  ),
  conversations: defineChoice(
    ['one', 'per-request'],
    'one: Parley keeps the history, in one lasting conversation or one per `user` and per X-Parley-Conversation header; only the last user messages in a request are new. per-request: the client keeps the history; each request is a separate conversation with the messages that it sends.',
  ),
});

function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** `api`: the gateway as an OpenAI-compatible server. */
export const Api = defineSection(
  'Programs that talk to the agent through an OpenAI-compatible API: POST /v1/chat/completions.',
  {
    clients: z
      .record(
        z
          .string()
          .regex(
            CLIENT_NAME,
            'a name with lower-case letters, digits, - and _, at most 32 characters',
          ),
        ApiClient,
      )
      .refine((clients) => {
        const tokens = Object.values(clients).map(({ token }) => token);
        return new Set(tokens).size === tokens.length;
      }, 'a separate token for each client')
      .default({})
      .describe('Clients by name. If there are none, the API is off.'),
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
        'Web pages that may call the API from the browser (CORS), by exact origin. Everyone who opens such a page can see the token that it uses.',
      ),
    waitSeconds: numberField(
      { min: 1, max: 3_600, default: 240 },
      'How long a request waits for its answer. The answer is kept: the same request with the same Idempotency-Key returns it later.',
    ),
  },
);
