import { type IdForm, trimCopiedId } from '@parley/core';
import { z } from 'zod';
import {
  apiUrlSchema,
  createIdForm,
  createUserNameOption,
  GUID,
  LISTED,
  type Platform,
  textSchema,
  WHOAMI,
} from './platform.ts';

const ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

const person = createIdForm(
  {
    expected: 'a Linear user id, such as 01234567-89ab-cdef-0123-456789abcdef',
    howToFind: `In Linear: open the person's profile, Ctrl-K or Cmd-K, Copy model UUID. ${WHOAMI}`,
    explain: (written) =>
      /@/.test(written)
        ? 'a name or an email address can be transferred to another person, so it is not accepted'
        : undefined,
  },
  [ID],
);

const group = createIdForm(
  {
    expected: 'the id of a Linear issue, such as 01234567-89ab-cdef-0123-456789abcdef',
    howToFind: `In Linear: open the issue, Ctrl-K or Cmd-K, Copy model UUID. ${LISTED}`,
    explain: (written) =>
      /^[A-Z][A-Z0-9]*-\d+$/i.test(trimCopiedId(written)) && !GUID.test(trimCopiedId(written))
        ? "an issue's number changes when it is moved to another team"
        : undefined,
  },
  [ID],
);

const thread: IdForm = {
  expected: 'the id of a Linear comment, such as 01234567-89ab-cdef-0123-456789abcdef',
  howToFind: '"parley conversations" shows the id',
  normalize(written) {
    const bare = trimCopiedId(written);
    if (GUID.test(bare)) return `c:${bare}`;
    return /^(?:c:[\w-]{8,60})?(?::?s:[\w-]{8,60})?$/.test(bare) && bare !== '' ? bare : null;
  },
};

/**
 * Linear: comments on issues. Each issue is a group, and each comment with its replies a thread.
 */
export const linear: Platform = {
  use: '@chat-adapter/linear',
  version: '4.41.0',
  name: 'Linear',
  channel: 'linear',
  page: 'channel-linear.md',
  ids: { person, group, direct: group, role: null, thread },
  options: {
    apiKey: {
      variable: 'LINEAR_API_KEY',
      schema: textSchema('API key', 'A personal API key for the account that answers.'),
    },
    accessToken: {
      variable: 'LINEAR_ACCESS_TOKEN',
      schema: textSchema('Access token', 'An OAuth access token for an application.'),
    },
    clientCredentials: {
      schema: z
        .strictObject({
          clientId: z.string().min(1).describe('Its client id.').meta({ title: 'Client id' }),
          clientSecret: z
            .string()
            .min(1)
            .describe('Its client secret.')
            .meta({ title: 'Client secret' }),
          scopes: z
            .array(z.string())
            .optional()
            .describe('If not set: read, write, comments:create and issues:create.')
            .meta({ title: 'Scopes' }),
        })
        .optional()
        .describe('An application with client credentials, which answers under its own name.')
        .meta({ title: 'Client credentials' }),
    },
    webhookSecret: {
      variable: 'LINEAR_WEBHOOK_SECRET',
      schema: textSchema(
        'Webhook secret',
        "The signing secret from the webhook's page.",
        "the webhook's signing secret",
      ),
    },
    mode: {
      schema: z
        .enum(['comments', 'agent-sessions'])
        .optional()
        .describe(
          'comments (the default): comments that mention the bot. agent-sessions: sessions that Linear opens when the agent is assigned or mentioned.',
        )
        .meta({ title: 'What it answers' }),
    },
    userName: createUserNameOption('The name that people mention.', 'LINEAR_BOT_USERNAME'),
    apiUrl: { variable: 'LINEAR_API_URL', schema: apiUrlSchema('URL of the API.') },
  },
  needs: [
    [['apiKey'], ['accessToken'], ['clientCredentials']],
    [['webhookSecret']],
    [['userName']],
  ],
  left: {
    LINEAR_CLIENT_CREDENTIALS_CLIENT_ID: 'one of the values in clientCredentials',
    LINEAR_CLIENT_CREDENTIALS_CLIENT_SECRET: 'one of the values in clientCredentials',
    LINEAR_CLIENT_CREDENTIALS_SCOPES: 'one of the values in clientCredentials',
    LINEAR_CLIENT_ID: 'each account has only one workspace',
    LINEAR_CLIENT_SECRET: 'each account has only one workspace',
    LINEAR_ENCRYPTION_KEY: 'Parley does not store workspace tokens',
  },
  asks: ['apiKey', 'webhookSecret', 'userName'],
  setUp:
    "Invite an account for the bot, and use that account to create an API key under Settings, Security & access. Under Settings, API, create a webhook with this gateway's URL and the event Comments, and copy its signing secret.",
  notDurable: [
    'Linear repeats a failed call after a minute, an hour and six hours. After that, the event is lost.',
    'Linear has no buttons, so people answer approval requests with text.',
  ],
  isCalled: () => true,
};
