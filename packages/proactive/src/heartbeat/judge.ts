import type { HeartbeatVerdict, JudgeHeartbeat } from '@parley/core';
import type { Store } from '@parley/store';
import {
  computeQuietHoursEnd,
  computeRepeatStart,
  fingerprintAlert,
  readQuietHours,
} from '../alerts.ts';
import { createZoneClock } from '../zone-clock.ts';
import type { HeartbeatServices } from './services.ts';
import { judgeHeartbeatAnswer } from './verdict.ts';

interface JudgeServices extends Pick<HeartbeatServices, 'clock' | 'log'> {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly timeZone: string };
  /** The owner's time zone, if it may differ from the agent's. */
  readonly timeZone?: () => Promise<string>;
  /** `quietHours` is formatted as in the settings: `off`, or `22:00-07:00`. */
  readonly settings: {
    readonly quietHours: string;
    readonly repeatHours: number;
    readonly quietMaxCharacters?: number;
  };
}

const LOGGED = 200;

/**
 * Decides whether a run's answer is sent: never, now, after the quiet hours, or not again because
 * it repeats an earlier alert (H03, H04).
 */
export function createHeartbeatJudge({
  store,
  agent,
  timeZone = async () => agent.timeZone,
  settings,
  clock,
  log,
}: JudgeServices): JudgeHeartbeat {
  const hours = readQuietHours(settings.quietHours);
  return async (answer, run): Promise<HeartbeatVerdict> => {
    const verdict = judgeHeartbeatAnswer(answer, settings.quietMaxCharacters);
    if (verdict.kind === 'quiet') return { state: 'quiet', reason: verdict.reason };
    if (verdict.kind === 'unclear') {
      const said = verdict.text.slice(0, LOGGED);
      log.warn(
        { agent: run.agent, task: run.task, said },
        'an unclear heartbeat answer was not sent',
      );
      return { state: 'unclear', reason: verdict.reason };
    }
    const now = clock();
    const fingerprint = fingerprintAlert(verdict.text);
    const since = computeRepeatStart(now, settings.repeatHours);
    if (await store.heartbeats.alertedSince(run.agent, fingerprint, since)) {
      const reason = `the same alert was sent within the last ${settings.repeatHours} h`;
      return { state: 'repeated', reason };
    }
    const zone = createZoneClock(await timeZone());
    const heldUntil =
      run.isUrgent === true ? null : computeQuietHoursEnd(hours, { clock: zone, now });
    const held = heldUntil === null ? {} : { heldUntil };
    return { state: 'alerted', text: verdict.text, fingerprint, ...held };
  };
}
