// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { describe, expect, it } from 'vitest';
import { createChatSdkSchema } from './settings.ts';

const SLACK = '@chat-adapter/slack';
const TEAMS = '@chat-adapter/teams';
const GOOGLE_CHAT = '@chat-adapter/gchat';
const GITHUB = '@chat-adapter/github';
const LINEAR = '@chat-adapter/linear';
const WHATSAPP = '@chat-adapter/whatsapp';
const RESEND = '@resend/chat-sdk-adapter';

const GUID = '01234567-89ab-cdef-0123-456789abcdef';
const KEY = { client_email: 'bot@example.iam.gserviceaccount.com', private_key: 'pem' };
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----';
const HOOK = { webhookSecret: 'w', userName: 'helper' };
const META = { accessToken: 'a', appSecret: 'b', phoneNumberId: '123456789012345' };

type Options = Readonly<Record<string, unknown>>;

function check(use: string, options: Options, own: { env?: Record<string, string> } = {}) {
  return createChatSdkSchema(use, {}).safeParse({ options, ...own });
}

/** The problems found, as `key: expected`. */
function wrong(use: string, options: Options, env: Record<string, string | undefined> = {}) {
  const { error } = createChatSdkSchema(use, env).safeParse({ options });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('[F15] the settings of a tested adapter', () => {
  it.each<[string, string, Options]>([
    ['Slack with a webhook', SLACK, { botToken: 'xoxb-1', signingSecret: 'a' }],
    ['Slack with a socket', SLACK, { botToken: 'xoxb-1', appToken: 'xapp-1' }],
    ['Teams with a client secret', TEAMS, { appId: GUID, appPassword: 'a', appTenantId: GUID }],
    ['Teams with a managed identity', TEAMS, { appId: GUID, federated: { clientId: GUID } }],
    ['Google Chat with a key', GOOGLE_CHAT, { credentials: KEY, endpointUrl: 'https://a.b/c' }],
    [
      ...(['Google Chat with the identity of the machine', GOOGLE_CHAT] as const),
      { useApplicationDefaultCredentials: true, googleChatProjectNumber: 123 },
    ],
    ['GitHub with a token', GITHUB, { token: 'ghp_1', ...HOOK }],
    ['GitHub with an app', GITHUB, { appId: 7, privateKey: PEM, installationId: 8, ...HOOK }],
    ['Linear with a key', LINEAR, { apiKey: 'lin_1', ...HOOK }],
    [
      ...(['Linear with client credentials', LINEAR] as const),
      { clientCredentials: { clientId: 'a', clientSecret: 'b' }, ...HOOK },
    ],
    ['WhatsApp Cloud', WHATSAPP, { ...META, verifyToken: 'c' }],
  ])('accept %s', (_what, use, options) => {
    expect(check(use, options)).toMatchObject({ success: true, data: { use, env: {} } });
  });

  it.each<[string, string, Options, readonly string[]]>([
    [
      ...(['Slack without anything', SLACK, {}] as const),
      [
        'options.botToken: the bot token, such as ${SLACK_BOT_TOKEN}',
        'options.appToken: the app-level token, such as ${SLACK_APP_TOKEN}, or signingSecret instead',
      ],
    ],
    [
      ...(['Slack in socket mode without its token', SLACK] as const),
      { botToken: 'xoxb-1', signingSecret: 'a', mode: 'socket' },
      ['options.appToken: the app-level token, such as ${SLACK_APP_TOKEN}'],
    ],
    [
      ...(['Slack with a webhook without its secret', SLACK] as const),
      { botToken: 'xoxb-1', appToken: 'xapp-1', mode: 'webhook' },
      ['options.signingSecret: the signing secret, such as ${SLACK_SIGNING_SECRET}'],
    ],
    [
      ...(['a token of another kind', SLACK, { botToken: 'xoxp-1', signingSecret: 'a' }] as const),
      ['options.botToken: a bot token, which begins with xoxb-'],
    ],
    [
      ...(['Teams without a secret', TEAMS, { appId: GUID }] as const),
      ['options.appPassword: the client secret, such as ${TEAMS_APP_PASSWORD}'],
    ],
    [
      ...(['Google Chat that verifies nothing', GOOGLE_CHAT, { credentials: KEY }] as const),
      [
        'options.googleChatProjectNumber: the project number, such as ${GOOGLE_CHAT_PROJECT_NUMBER}, or endpointUrl instead, or pubsubAudience instead',
      ],
    ],
    [
      ...(['a key file that is none', GOOGLE_CHAT] as const),
      { credentials: 'not json', endpointUrl: 'https://a.b' },
      ['options.credentials: Invalid input'],
    ],
    [
      ...(['half of a GitHub App', GITHUB, { appId: '7', ...HOOK }] as const),
      ['options.privateKey: the private key, such as ${GITHUB_PRIVATE_KEY}'],
    ],
    [
      ...(['Linear without a name to mention', LINEAR] as const),
      { apiKey: 'a', webhookSecret: 'b' },
      ['options.userName: the name of the bot, such as ${LINEAR_BOT_USERNAME}'],
    ],
    [
      ...(['WhatsApp Cloud with the number itself', WHATSAPP] as const),
      { ...META, verifyToken: 'c', phoneNumberId: '+49 151 1234567' },
      ['options.phoneNumberId: the id of a phone number, which consists only of digits'],
    ],
  ])('report missing and incorrect values: %s', (_what, use, options, expected) => {
    expect(wrong(use, options)).toEqual(expected);
  });

  it("allow a service account's key as text, and accept the parsed key again", () => {
    const options = { credentials: JSON.stringify(KEY), endpointUrl: 'https://a.b' };
    const { data } = check(GOOGLE_CHAT, options);
    expect(data?.options.credentials).toEqual(KEY);
    expect(check(GOOGLE_CHAT, data?.options ?? {}).data).toEqual(data);
  });

  it('always verify calls from Google, regardless of the environment', () => {
    const { data } = check(GOOGLE_CHAT, { credentials: KEY, endpointUrl: 'https://a.b' });
    expect(data?.options.disableSignatureVerification).toBe(false);
  });

  it.each<[Options, string]>([
    [{ signingSecret: 'a' }, 'webhook'],
    [{ appToken: 'xapp-1' }, 'socket'],
    [{ appToken: 'xapp-1', signingSecret: 'b' }, 'webhook'],
    [{ appToken: 'xapp-1', signingSecret: 'b', mode: 'socket' }, 'socket'],
  ])('decide how Slack messages arrive: %j', (options, mode) => {
    const { data } = check(SLACK, { botToken: 'xoxb-1', ...options });
    expect(data?.options.mode).toBe(mode);
  });
});

describe('[F15] the settings of an untested adapter', () => {
  it('accept any options, because only the adapter knows their names', () => {
    expect(check('@acme/chat', { any: [1] }).success).toBe(true);
    expect(check(RESEND, { apiKey: 'a' }).success).toBe(true);
  });

  it("require the catalog's variables if there are no options", () => {
    expect(wrong(RESEND, {})).toEqual([
      'env: a block with RESEND_API_KEY and RESEND_WEBHOOK_SECRET; you can also set them in the environment or as options',
    ]);
    expect(wrong(RESEND, {}, { RESEND_API_KEY: 'a' })[0]).toContain('a block with RESEND_WEBHOOK');
    expect(wrong(RESEND, {}, { RESEND_API_KEY: 'a', RESEND_WEBHOOK_SECRET: 'b' })).toEqual([]);
    const env = { RESEND_API_KEY: 'a', RESEND_WEBHOOK_SECRET: 'b' };
    expect(check(RESEND, {}, { env }).data).toEqual({ use: RESEND, options: {}, env });
  });
});
