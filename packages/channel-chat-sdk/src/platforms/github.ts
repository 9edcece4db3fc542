import { type IdForm, trimCopiedId } from '@parley/core';
import {
  apiUrlSchema,
  createIdForm,
  createUserNameOption,
  digitsSchema,
  integerSchema,
  LISTED,
  type Platform,
  patternSchema,
  textSchema,
} from './platform.ts';

const person = createIdForm(
  {
    expected: 'the numeric id of a GitHub account, such as 583231',
    howToFind: 'https://api.github.com/users/NAME shows the id',
    explain: (written) =>
      /^(?:@|https:\/\/github\.com\/)?[a-z][\w-]*(?:\[bot\])?$/i.test(trimCopiedId(written))
        ? 'a login can be transferred to another person, so it is not accepted'
        : undefined,
  },
  [/^([1-9]\d{0,15})$/],
);

const group = createIdForm(
  {
    expected: 'a GitHub repository, such as octocat/hello-world',
    howToFind: `It is part of the repository's URL; case matters. ${LISTED}`,
  },
  [
    /^([\w-]+\/[\w.-]+?)(?:\.git)?$/,
    /^(?:https?:\/\/)?github\.com\/([\w-]+\/[\w.-]+?)(?:\.git)?(?:[/?#].*)?$/,
  ],
);

const thread: IdForm = {
  expected: 'a pull request such as 42, or an issue such as issue:42',
  howToFind: 'You can paste the URL of the pull request or issue',
  normalize(written) {
    const bare = trimCopiedId(written);
    const [, kind, number] = /\/(issues|pull)\/(\d{1,9})(?:[/?#]|$)/.exec(bare) ?? [];
    if (number !== undefined) return kind === 'issues' ? `issue:${number}` : number;
    return /^#?((?:issue:)?\d{1,9}|\d{1,9}:rc:\d{1,15})$/.exec(bare)?.[1] ?? null;
  },
};

/**
 * GitHub: comments on issues and pull requests. Each repository is a group, and each issue a
 * thread.
 */
export const github: Platform = {
  use: '@chat-adapter/github',
  version: '4.39.0',
  name: 'GitHub',
  channel: 'github',
  page: 'channel-github.md',
  ids: { person, group, direct: group, role: null, thread },
  options: {
    token: {
      variable: 'GITHUB_TOKEN',
      schema: textSchema('Token', 'A personal access token for the account that answers.'),
    },
    appId: {
      variable: 'GITHUB_APP_ID',
      schema: digitsSchema('App id', 'The App ID of a GitHub App.', 'the id of a GitHub App'),
    },
    privateKey: {
      variable: 'GITHUB_PRIVATE_KEY',
      schema: patternSchema(
        'Private key',
        'The private key of the GitHub App: the content of its .pem file.',
        /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
        'a private key in PEM format',
      ),
    },
    installationId: {
      variable: 'GITHUB_INSTALLATION_ID',
      schema: integerSchema(
        'Installation id',
        'The installation id of the GitHub App. If not set, the id in each webhook call is used.',
        'the id of a GitHub App installation',
      ),
    },
    webhookSecret: {
      variable: 'GITHUB_WEBHOOK_SECRET',
      schema: textSchema(
        'Webhook secret',
        'The secret that you entered for the webhook.',
        "the webhook's secret",
      ),
    },
    userName: createUserNameOption(
      'The name that people mention: the login of the account, or the name of the app.',
      'GITHUB_BOT_USERNAME',
    ),
    botUserId: {
      variable: 'GITHUB_BOT_USER_ID',
      schema: integerSchema(
        'User id of the bot',
        'If not set, it is requested from GitHub.',
        'a number',
      ),
    },
    apiUrl: {
      variable: 'GITHUB_API_URL',
      schema: apiUrlSchema('For GitHub Enterprise Server: https://HOST/api/v3.'),
    },
  },
  needs: [[['token'], ['appId', 'privateKey']], [['webhookSecret']], [['userName']]],
  left: {},
  asks: ['token', 'webhookSecret', 'userName'],
  setUp:
    "Create an account for the bot. With that account, create a fine-grained token that may read and write issues and pull requests (Settings, Developer settings). In the repository, under Settings, Webhooks, add this gateway's URL with the content type application/json, a secret of your choice, and the events Issue comments and Pull request review comments. A GitHub App works as well: docs/channel-github.md.",
  notDurable: [
    "If a call was not accepted, GitHub does not repeat it automatically. Press Redeliver under the webhook's Recent Deliveries, which keeps calls for three days.",
    'GitHub has no typing indicator and no buttons, so people answer approval requests with text.',
  ],
  isCalled: () => true,
};
