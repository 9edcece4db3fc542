import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  listFiredAlerts,
  type ProcessScrapes,
  readDocumentedRules,
} from '../services/alert-rules.ts';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import type { Member, SeparateMember } from './member.ts';
import { type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const promtoolPath = inject('promtoolPath');

describe.runIf(redisUrl && postgresUrl && promtoolPath)(
  'the alerts recommended in docs/metrics.md',
  () => {
    let scene: DeploymentScene;
    let postgres: FaultyProxy;
    let gateways: readonly Member[];
    /** Runs in a separate process while signals stop it. */
    let worker: Member;
    let apart: SeparateMember;
    const moments: ProcessScrapes[] = [];
    beforeAll(async () => {
      postgres = await startFaultyProxy(postgresUrl ?? '');
      const services = { redisUrl: redisUrl ?? '', postgresUrl: postgres.url };
      scene = await openScene(services, { limits: { waitingPerConversation: 5 } });
      const { deployment } = scene;
      gateways = [await deployment.start('gateway'), await deployment.start('gateway')];
      worker = await deployment.start('worker');
    });
    afterAll(async () => {
      await postgres.restore();
      await scene.close();
      await postgres.close();
    });

    /**
     * Polls until the largest value in the matching lines is at least `least`, and keeps that
     * scrape.
     */
    async function scrape(...seen: readonly (readonly [line: RegExp, least: number])[]) {
      await expect
        .poll(async () => {
          const texts = await metrics();
          const all = Object.values(texts).join('\n');
          const short = seen.filter(([line, least]) => largest(all, line) < least);
          if (short.length === 0) moments.push(texts);
          return short.map(([line]) => line.source);
        })
        .toEqual([]);
    }
    async function metrics(): Promise<ProcessScrapes> {
      const texts = scene.deployment.members().map(async (member) => {
        const { body } = await scene.deployment.get(member, '/metrics');
        return [`${member.role}-${member.address}`, body] as const;
      });
      return Object.fromEntries(await Promise.all(texts));
    }
    const largest = (text: string, line: RegExp) =>
      Math.max(0, ...[...text.matchAll(line)].map(([, value]) => Number(value ?? 1)));
    /** A process that has just started is not ready; no rule fires within its first minute. */
    const untilReady = () =>
      Promise.all(
        scene.deployment
          .members()
          .map((member) =>
            expect
              .poll(async () => (await scene.deployment.get(member, '/readyz')).body)
              .toBe('ready\n'),
          ),
      );
    const say = (chat: number, text: string, extra = {}) =>
      scene.telegram.say({ chat, text, extra });

    it('[D10] are silent in a healthy deployment with a standby gateway and a restarted worker', async () => {
      await scene.ask('one');
      await untilReady();
      await scrape();
      await scene.ask('two');
      await worker.end();
      apart = await scene.deployment.startApart('worker');
      worker = apart;
      await scene.ask('three');
      await untilReady();
      await scrape();
      expect(listFiredAlerts(promtoolPath ?? '', moments)).toEqual([]);
    });

    it('[D10] all fire in a broken deployment', async () => {
      await breakTurns();
      await killBusyWorker();
      await leaveWithoutWorker();
      await slowDown();
      await cutOff();
      expect(listFiredAlerts(promtoolPath ?? '', moments)).toEqual(
        [...readDocumentedRules().alerts].toSorted(),
      );
    });

    /** The model, a tool, the platform and the machine fail, each for a while. */
    async function breakTurns(): Promise<void> {
      const { telegram, model } = scene;
      telegram.fault({
        kind: 'refuse',
        method: 'sendMessage',
        code: 429,
        description: 'Too Many Requests: retry after 1',
        parameters: { retry_after: 1 },
        times: 14,
      });
      for (let chat = 700; chat < 714; chat += 1) say(chat, `limited ${chat}`);
      await telegram.waitFor(() => scene.answers(713).length > 0, 30_000);
      for (let nth = 0; nth < 4; nth += 1) {
        model.fault({ kind: 'status', status: 400 });
        say(800 + nth, 'nothing works');
      }
      // Waits for all calls, because a late call would receive the model reply meant for the next
      // call.
      const failed = [800, 801, 802, 803];
      await telegram.waitFor(() => failed.every((chat) => scene.answers(chat).length > 0), 30_000);
      // None of these calls has the arguments that the tool requires.
      const calls = [1, 2, 3, 4].map((nth) => ({
        name: 'current_time',
        arguments: { timeZone: nth },
      }));
      model.queue({ toolCalls: calls });
      say(840, 'what time is it?');
      await telegram.waitFor(() => scene.answers(840).length > 0, 20_000);
      telegram.setAccess(820, 'blocked');
      const late = { date: Math.floor(Date.now() / 1_000) - 600 };
      for (let chat = 820; chat < 824; chat += 1) say(chat, 'written ten minutes ago', late);
      await scrape(
        [/^parley_delivery_retries_total\{.*rate-limited.*\} (\d+)$/gm, 11],
        [/^parley_turn_seconds_count\{.*failed.*\} (\d+)$/gm, 1],
        [/^parley_tool_seconds_count\{.*failed.*\} (\d+)$/gm, 4],
        [/^parley_dead_letters\{.*\} (\d+)$/gm, 1],
      );
      await stall();
    }

    /**
     * Makes the event loop of the worker lag. Repeated, because a busy machine may hide the lag.
     */
    async function stall(): Promise<void> {
      const isLate = /^parley_event_loop_lag_seconds\{quantile="0.99"\} (?:0\.[5-9]|[1-9])/m;
      await expect
        .poll(async () => {
          await metrics();
          apart.signal('SIGSTOP');
          await sleep(1_000);
          apart.signal('SIGCONT');
          const texts = await metrics();
          moments.push(texts);
          return Object.values(texts).some((text) => isLate.test(text));
        })
        .toBe(true);
    }

    async function killBusyWorker(): Promise<void> {
      const held = Array.from({ length: 12 }, (_, nth) => scene.held.hold(`think ${nth}`));
      for (const nth of held.keys()) say(900 + nth, `think ${nth}`);
      await Promise.all(held.map(({ asked }) => asked));
      await worker.end();
      worker = await scene.deployment.start('worker');
      for (const { release } of held) release();
      await scene.telegram.waitFor(() => scene.answers(911).length > 0, 30_000);
      await scrape([/^parley_lane_turns_total\{.*run="resumed".*\} (\d+)$/gm, 11]);
    }

    async function leaveWithoutWorker(): Promise<void> {
      const { telegram, deployment } = scene;
      telegram.fault({ kind: 'hang', method: 'sendMessage', chat: 950, times: 1 });
      say(950, 'never delivered');
      await telegram.waitFor(
        () =>
          scene.answers(950).length === 0 &&
          telegram
            .calls('sendMessage')
            .some(({ params }) => JSON.stringify(params).includes('950')),
      );
      await worker.end();
      for (let nth = 0; nth < 8; nth += 1) say(960, `too much ${nth}`);
      for (let chat = 1_000; chat < 1_110; chat += 1) say(chat, 'is anyone there?');
      await telegram.waitFor(() => telegram.pendingUpdates().length === 0, 30_000);
      const client = new Client({ connectionString: deployment.storeUrl });
      await client.connect();
      await client.query('update inbox set received_at = received_at - 200000');
      await client.query('update outbox set created_at = created_at - 200000');
      await client.end();
      await scrape(
        [/^parley_queue_jobs\{.*state="waiting".*\} (\d+)$/gm, 101],
        [/^parley_overflow_total\{.*\} (\d+)$/gm, 1],
      );
    }

    async function slowDown(): Promise<void> {
      postgres.delay(300);
      for (let chat = 2_000; chat < 2_004; chat += 1) say(chat, 'slowly');
      await scene.telegram.waitFor(() => scene.telegram.pendingUpdates().length === 0, 60_000);
      postgres.delay(0);
      await scrape();
    }

    async function cutOff(): Promise<void> {
      scene.telegram.fault({ kind: 'status', method: 'getUpdates', status: 502, times: 1_000 });
      scene.telegram.endPoll();
      await expect
        .poll(
          async () =>
            (await Promise.all(gateways.map((one) => scene.stateOf(one)))).map(({ kind }) => kind),
          {
            timeout: 40_000,
          },
        )
        .not.toContain('connected');
      await postgres.cut();
      await scrape([/^parley_ready 0$/gm, 1], [/^parley_database_up 0$/gm, 1]);
    }
  },
);
