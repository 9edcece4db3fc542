import { type IdForm, trimCopiedId } from '@parley/core';
import { z } from 'zod';
import {
  apiUrlSchema,
  createIdForm,
  createUserNameOption,
  digitsSchema,
  LISTED,
  type OptionInfo,
  type Platform,
  textSchema,
  WHOAMI,
} from './platform.ts';

const person = createIdForm(
  {
    expected: 'a Google Chat user, such as users/123456789012345678901',
    howToFind: WHOAMI,
    explain: (written) =>
      /@/.test(written) ? "Google Chat does not show people's email addresses to apps" : undefined,
  },
  [/^(users\/\d{5,25})$/],
);

const SPACE = /^(spaces\/[\w-]{5,})$/;

/** The id of a space as in its link, without `spaces/`. */
const LINKS = [
  /^https:\/\/chat\.google\.com\/(?:app\/chat|room|dm|u\/\d+\/app\/chat)\/([\w-]{5,})/,
  /^https:\/\/mail\.google\.com\/(?:mail|chat)\/u\/\d+\/#chat\/(?:space|dm)\/([\w-]{5,})/,
];

function createSpaceForm(expected: string, howToFind: string) {
  const form = createIdForm({ expected, howToFind }, [SPACE]);
  return {
    ...form,
    normalize(written: string) {
      for (const link of LINKS) {
        const name = link.exec(trimCopiedId(written))?.[1];
        if (name !== undefined) return `spaces/${name}`;
      }
      return form.normalize(written);
    },
  };
}

const group = createSpaceForm(
  'a Google Chat space, such as spaces/AAAA1234567',
  `Copy the link of the space. ${LISTED}`,
);
const direct = createSpaceForm(
  'a direct chat in Google Chat, such as spaces/AAAA1234567',
  'Copy the link of the chat',
);
const THREAD = /^spaces\/[\w-]+\/threads\/[\w-]+$/;

/** Messages contain the thread in base64url, because thread ids are embedded in other ids. */
const thread: IdForm = {
  expected: 'a thread in Google Chat, such as spaces/AAAA1234567/threads/BBBB',
  howToFind: '"parley conversations" shows the id',
  normalize(written) {
    const bare = trimCopiedId(written);
    if (THREAD.test(bare)) return Buffer.from(bare).toString('base64url');
    const name = Buffer.from(bare, 'base64url').toString();
    return THREAD.test(name) ? Buffer.from(name).toString('base64url') : null;
  },
};

const KEY_FILE = "the content of a service account's JSON key file";

const Key = z.looseObject(
  {
    client_email: z.string({ error: 'the email address of a service account' }),
    private_key: z.string({ error: 'the private key of a service account' }),
  },
  { error: KEY_FILE },
);

/**
 * The service account's key file as text (from a secret file or the environment) or as a YAML
 * block.
 */
const credentials = z
  .union([z.string().transform(parseKey).pipe(Key), Key])
  .optional()
  .describe("The service account's JSON key, which is the content of the file from Google Cloud.")
  .meta({ title: 'Service account key' });

function parseKey(written: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(written);
  } catch {
    context.addIssue({ code: 'custom', message: KEY_FILE });
    return z.NEVER;
  }
}

const pubsub = (variable: string, title: string, help: string): OptionInfo => ({
  variable,
  schema: textSchema(title, help),
});

/** Google Chat, as a Google Workspace app. */
export const googleChat: Platform = {
  use: '@chat-adapter/gchat',
  version: '4.41.0',
  name: 'Google Chat',
  channel: 'google-chat',
  page: 'channel-google-chat.md',
  ids: { person, group, direct, role: null, thread },
  options: {
    credentials: { variable: 'GOOGLE_CHAT_CREDENTIALS', schema: credentials, isFile: true },
    useApplicationDefaultCredentials: {
      variable: 'GOOGLE_CHAT_USE_ADC',
      schema: z
        .boolean()
        .optional()
        .describe("Use this machine's Google Cloud identity instead of a key.")
        .meta({ title: 'Machine identity' }),
    },
    googleChatProjectNumber: {
      variable: 'GOOGLE_CHAT_PROJECT_NUMBER',
      schema: digitsSchema(
        'Project number',
        "The number of the Google Cloud project, if the app's authentication audience is the project number.",
        'the number of a Google Cloud project',
      ),
    },
    endpointUrl: {
      schema: z
        .url({ protocol: /^https$/, error: 'an https address' })
        .optional()
        .describe(
          "The URL at which Google calls this gateway, exactly as in the app's settings. Buttons also need this URL.",
        )
        .meta({ title: 'URL of this gateway' }),
    },
    pubsubTopic: pubsub(
      'GOOGLE_CHAT_PUBSUB_TOPIC',
      'Topic',
      'A Pub/Sub topic that delivers all messages in a space, not only mentions.',
    ),
    pubsubAudience: pubsub(
      'GOOGLE_CHAT_PUBSUB_AUDIENCE',
      'Audience of Pub/Sub',
      'The audience of the push subscription.',
    ),
    pubsubServiceAccountEmail: pubsub(
      'GOOGLE_CHAT_PUBSUB_SERVICE_ACCOUNT_EMAIL',
      'Account of Pub/Sub',
      'The service account of the push subscription; calls from any other account are refused.',
    ),
    impersonateUser: pubsub(
      'GOOGLE_CHAT_IMPERSONATE_USER',
      'Impersonated user',
      'A user who has access to the spaces, for Workspace Events.',
    ),
    workspaceAddOnServiceAccountEmail: pubsub(
      'GOOGLE_CHAT_WORKSPACE_ADDON_SERVICE_ACCOUNT_EMAIL',
      'Add-on account',
      'Only for apps that are Workspace add-ons.',
    ),
    botUserId: pubsub(
      'GOOGLE_CHAT_BOT_USER_ID',
      'User id of the app',
      'The user id, such as users/123456. If not set, it is learned from mentions.',
    ),
    disableSignatureVerification: {
      variable: 'GOOGLE_CHAT_DISABLE_SIGNATURE_VERIFICATION',
      schema: z
        .boolean()
        .default(false)
        .describe('Accept calls that Google has not signed. Anyone can then write under any name.')
        .meta({ title: 'Accept unsigned calls' }),
    },
    userName: createUserNameOption('The name that people mention.'),
    apiUrl: { variable: 'GOOGLE_CHAT_API_URL', schema: apiUrlSchema('URL of the Chat API.') },
  },
  needs: [
    [['credentials'], ['useApplicationDefaultCredentials']],
    [['googleChatProjectNumber'], ['endpointUrl'], ['pubsubAudience']],
  ],
  left: {},
  asks: ['credentials', 'endpointUrl'],
  setUp:
    "In console.cloud.google.com, turn on the Google Chat API and create a service account with a JSON key. Under Google Chat API, Configuration, configure the app: enter this gateway's URL as the HTTP endpoint URL.",
  notDurable: [
    'Google Chat may not repeat a call that failed; a Pub/Sub topic (pubsubTopic) keeps messages for days.',
    'Without a Pub/Sub topic, an app in a space receives only messages that mention it.',
    'Google Chat has no typing indicator for apps.',
    'Private messages and dialogs are not used, because they must be part of the immediate response to a call.',
  ],
  isCalled: () => true,
};
