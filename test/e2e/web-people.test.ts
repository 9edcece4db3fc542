import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { createFullApp, listOperationRoutes, listRoutes } from '@parley/gateway/testing';
import { openStore } from '@parley/store';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { HeldAnswers } from '../model/index.ts';
import { findPageFaults } from './page-faults.ts';
import { makeDataFolder, runCommand } from './parley-process.ts';
import {
  listViewAddresses,
  openView,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** Each of these strings is in a private location that only an owner may see. */
const SAID = 'canary-that-was-said';
const ANSWERED = 'canary-that-was-answered';
const REMEMBERED = 'canary-in-the-memory';
const SOUL = 'canary-in-the-soul';
const JOB = 'canary-of-a-job';
const TASK = 'canary-of-the-heartbeat';
const CHAT = 'canary-chat';
const PERSON = 'canary-person';
const WAITING = 'canary-that-waits';
const CANARIES = [SAID, ANSWERED, REMEMBERED, SOUL, JOB, TASK, CHAT, PERSON, WAITING];
const Prompts = z.array(z.object({ turnId: z.string(), conversationId: z.string() }));
const found = (text: string) => CANARIES.filter((canary) => text.includes(canary));

describe.runIf(chromiumUrl)('people with a role', () => {
  let scene: WebScene;
  const held = new HeldAnswers();
  const tokens = new Map<string, string>();
  const parley = (...args: string[]) => runCommand(['--data', scene.folder.path, ...args]);
  const ask = (path: string, token = scene.parley.token, init: RequestInit = {}) =>
    fetch(`${scene.parley.address}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(20_000),
    });

  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    const workspace = (name: string) => join(scene.folder.path, 'workspace', name);
    writeFileSync(workspace('MEMORY.md'), `# Memory\n${REMEMBERED}\n`);
    writeFileSync(workspace('SOUL.md'), `# Soul\n${SOUL}\n`);
    writeFileSync(
      workspace('HEARTBEAT.md'),
      `# Heartbeat\n\n## ${TASK}\nevery: 30 min\n\nLook at ${TASK}.\n`,
    );
    scene.model.reply(async ({ messages }) => {
      await held.pass(JSON.stringify(messages.at(-1)).includes(WAITING) ? WAITING : '');
      return ANSWERED;
    });
    const page = await scene.open();
    await sendMessage(page, SAID);
    await untilAnswer(page, ANSWERED);
    await page.context().close();
    expect((await parley('cron', 'add', JOB, '--at', '2099-01-01T10:00')).out).toContain('is set');
    const waiting = held.hold(WAITING);
    await fillChat();
    await waiting.asked;
    for (const role of ['operator', 'viewer', 'owner']) {
      const { out } = await parley('people', 'add', `${role}-1`, '--role', role);
      tokens.set(role, /#token=(\S+)/.exec(out)?.[1] ?? '');
    }
  }, 120_000);
  afterAll(() => scene.close());

  /** A stranger's private chat on Telegram, with a running turn. */
  async function fillChat(): Promise<void> {
    const url = `sqlite:${join(scene.folder.path, 'parley.db')}`;
    await using store = Object.assign(await openStore({ url, clock: Date.now }), {
      async [Symbol.asyncDispose]() {
        await store.close();
      },
    });
    const place = { channel: 'telegram', account: 'default' };
    const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
    await store.inbox.accept({
      conversationId: `telegram:default:${CHAT}`,
      route: { ...place, chatId: CHAT, target },
      receivedAt: Date.now(),
      message: {
        ...{ ...place, messageId: 'm1', chat: { id: CHAT, type: 'direct' }, text: WAITING },
        ...{ sender: { id: PERSON, name: PERSON, isBot: false }, mentions: [], addressed: true },
        ...{ sentAt: Date.now(), variables: {} },
      },
    });
  }

  /** The addresses of all readable routes, with existing ids. */
  async function readablePaths(): Promise<readonly string[]> {
    const { prompts } = JSON.parse(await (await ask('/api/prompts/list')).text());
    // The running turn may already have a prompt, without the parts that only the owner may see.
    const own = Prompts.parse(prompts).find(({ conversationId }) =>
      conversationId.startsWith('web:'),
    );
    const turn = own?.turnId ?? '';
    const store = await openStore({ url: 'sqlite::memory:', clock: Date.now });
    const app = createFullApp({ token: 'none', store, clock: Date.now });
    const routes = [...listRoutes(app), ...(await listOperationRoutes()).keys()];
    await store.close();
    const paths = routes
      .filter((route) => route.startsWith('GET /') && !/^GET \/(page|channels)\//.test(route))
      .map((route) =>
        route
          .slice('GET '.length)
          .replace('/conversations/:id', '/conversations/web:default:owner')
          .replace(/:\w+/g, '1'),
      );
    const more = ['person', 'chat', 'model', 'channel'].map((by) => `/api/usage/report?by=${by}`);
    const web = ['history', 'events', 'else'].map((name) => `/channels/web/default/${name}`);
    const asked = [
      '/api/conversations/search?words=canary',
      '/api/conversations/show?id=web:default:owner',
      '/api/conversations/messages?id=web:default:owner',
      '/api/why/message?message=last',
      `/api/prompts/show?turn=${turn}`,
    ];
    return [...paths, ...more, ...web, ...asked];
  }

  /** The response body of a path, or the beginning of it for an endless stream. */
  async function answerOf(path: string, token?: string): Promise<string> {
    const response = await ask(path, token);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      return `${response.status} ${await response.text()}`;
    }
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    await reader?.cancel();
    return `${response.status} ${new TextDecoder().decode(value)}`;
  }

  it('[U03] do not get private text from any API address, while the owner gets all of it', async () => {
    const paths = await readablePaths();
    expect(paths.length).toBeGreaterThan(25);
    const shown = new Set<string>();
    for (const path of paths.filter((one) => !one.endsWith('/events'))) {
      for (const canary of found(await answerOf(path))) shown.add(canary);
    }
    expect([...shown].toSorted()).toEqual(CANARIES.toSorted());
    for (const role of ['operator', 'viewer']) {
      let opened = 0;
      for (const path of paths) {
        const answer = await answerOf(path, tokens.get(role));
        expect([role, path, found(answer)]).toEqual([role, path, []]);
        if (answer.startsWith('200')) opened += 1;
      }
      // Health, page, me, status, agents, metrics and usage in four forms; operators also read
      // queue, audit and channels.
      expect(opened).toBe(role === 'operator' ? 14 : 11);
    }
    const queue = await answerOf('/api/queue/report', tokens.get('operator'));
    expect(queue).toContain('"conversationId":"telegram:default"');
  });

  const signIn = async (role: string, width: number) => {
    const viewport = { width, height: 740 };
    const page = await (await scene.browser.newContext({ viewport })).newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(`${scene.parley.address}/#token=${tokens.get(role)}`);
    await page.getByText('Connected', { exact: true }).waitFor();
    return page;
  };
  const texts = async (page: Page) =>
    found(`${await page.content()} ${await page.evaluate('JSON.stringify(localStorage)')}`);

  // The access of each role is also tested above, so a normal run opens the page for only one role.
  const openedBy = [
    ['operator', 320, ['status', 'channels', 'queue', 'usage', 'audit']],
    ['viewer', 1280, ['status', 'usage']],
  ] as const;
  it.each(openedBy.filter((_, nth) => isDueToday(nth, 2)))(
    '[U03] see the views of a %s at %i pixels, and a clear message at other addresses',
    async (role, width, ids) => {
      const owner = await scene.open();
      const all = [...(await listViewAddresses(owner)), '#/conversations'];
      await owner.context().close();
      expect(all).toContain('#/people');
      const page = await signIn(role, width);
      await page.getByRole('heading', { name: 'Status', exact: true }).waitFor();
      const own = await listViewAddresses(page);
      expect(own).toEqual(ids.map((id) => `#/${id}`));
      const failed: string[] = [];
      page.on('response', (one) => {
        if (one.status() >= 400) failed.push(one.url());
      });
      for (const view of [...all, '#/sessions', '#/preview']) {
        await page.goto(`${scene.parley.address}/${view}`);
        const main = page.locator('main:visible');
        await main.getByText('Loading…').first().waitFor({ state: 'detached' });
        const isOpen = own.includes(view) || view === '#/';
        const closed = page.getByRole('alert').filter({
          hasText: `This needs the role owner. You are signed in as ${role}-1, ${role}.`,
        });
        if (isOpen) await main.waitFor();
        else if (view !== '#/queue' && view !== '#/channels' && view !== '#/audit') {
          await closed.waitFor();
        } else await page.getByText('This needs the role operator.').waitFor();
        expect([view, await texts(page)]).toEqual([view, []]);
        if (view === '#/status' || view === '#/soul')
          expect(await findPageFaults(page)).toEqual([]);
      }
      // The page does not even request views without access.
      expect(failed).toEqual([]);
      await page.context().close();
    },
  );

  it('[U03] do not find data of an owner who used the same tab, and are signed out within seconds when they are revoked', async () => {
    const page = await scene.open({ viewport: { width: 1280, height: 740 } });
    await untilAnswer(page, ANSWERED);
    await page.goto(`${scene.parley.address}/#token=${tokens.get('operator')}`);
    await page.getByText('operator-1 · operator').waitFor();
    await page.getByRole('heading', { name: 'Status', exact: true }).waitFor();
    expect(await texts(page)).toEqual([]);
    expect(await parley('people', 'revoke', 'operator-1')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^operator-1 is revoked; [1-9] sessions? ended\.\n$/),
    });
    await page.getByRole('heading', { name: 'This chat is private' }).waitFor();
    expect((await ask('/api/status/report', tokens.get('operator'))).status).toBe(401);
    expect((await parley('people', 'revoke', 'operator-1')).code).toBe(1);
    await page.context().close();
  });

  it('[U03] with the owner role can chat the way the owner does, and lose access when they are revoked', async () => {
    const page = await signIn('owner', 1280);
    await untilAnswer(page, ANSWERED);
    await parley('people', 'revoke', 'owner-1');
    await page.getByRole('heading', { name: 'This chat is private' }).waitFor();
    expect(await texts(page)).toEqual([]);
    await page.context().close();
  });

  it.each([1280, 320].filter((_, nth) => isDueToday(nth, 2)))(
    '[U03] are added and revoked at %i pixels by keyboard only, and the token is shown once',
    async (width) => {
      const page = await scene.open({ viewport: { width, height: 740 } });
      const name = `Zoë ${width}`;
      await openView(page, 'People');
      await page.getByRole('textbox', { name: 'Name' }).focus();
      await page.keyboard.type(name);
      await page.keyboard.press('Tab');
      await page.keyboard.press('o');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const address = await page.getByLabel('can sign in with this link').inputValue();
      const token = address.split('#token=')[1] ?? '';
      expect(address).toBe(`${scene.parley.address}/#token=${token}`);
      const card = page.getByRole('article', { name });
      await card.getByText('operator', { exact: true }).waitFor();
      await card.getByText('Never seen').waitFor();
      expect(await findPageFaults(page)).toEqual([]);
      expect((await ask('/api/queue/report', token)).status).toBe(200);
      await page.getByRole('button', { name: 'Refresh' }).press('Enter');
      await card.getByText('Last seen: Today').waitFor();
      await page.reload();
      await card.waitFor();
      expect(await page.content()).not.toContain(token);
      await page.getByRole('button', { name: `Revoke: ${name}` }).press('Enter');
      await page.locator('button:focus', { hasText: 'Cancel' }).waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      await card.waitFor({ state: 'detached' });
      expect((await ask('/api/queue/report', token)).status).toBe(401);
      await page.context().close();
    },
  );

  it('[U03] are never identified by their token in the log', () => {
    const written = scene.parley.err();
    expect(written).toContain('a named sign-in was added');
    for (const token of tokens.values()) expect(written).not.toContain(token);
  });
});

describe('parley people', () => {
  it('[U03] works without a running gateway, and explains errors', async () => {
    const folder = makeDataFolder({});
    const people = (...args: string[]) => runCommand(['--data', folder.path, 'people', ...args]);
    try {
      expect((await people()).out).toContain('No one has been added');
      const added = await people('add', 'Bo', '--role', 'viewer');
      expect(added).toMatchObject({ code: 0, err: '' });
      expect(added.out).toMatch(/http:\/\/127\.0\.0\.1:\d+\/#token=parley_signin_[\w-]{43}\n/);
      expect((await people('list')).out).toMatch(/^Bo {2}viewer, never used, added /);
      expect((await people('add', 'bo', '--role', 'owner')).out).toContain('That name is taken');
      expect((await people('add', 'owner', '--role', 'viewer')).err).toContain('needs a name');
      expect((await people('add', 'Ann')).code).not.toBe(0);
      expect((await people('add', 'Ann', '--role', 'king')).code).not.toBe(0);
      expect((await people('revoke', 'Bo')).out).toBe('Bo is revoked; 0 sessions ended.\n');
      expect(await people('revoke', 'Bo')).toMatchObject({
        code: 1,
        out: expect.stringContaining('There is no sign-in named Bo'),
      });
    } finally {
      folder.remove();
    }
  });
});
