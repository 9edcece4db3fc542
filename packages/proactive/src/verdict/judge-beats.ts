import type { BeatVerdict, Clock, JudgeBeat, Logger } from '@parley/contracts';
import type { Store } from '@parley/store';
import { alertFingerprint, repeatSince } from '../alerts/alert-repeat.ts';
import { quietUntil, readQuietHours } from '../alerts/quiet-hours.ts';
import { zoneClock } from '../clock/zone-clock.ts';
import { heartbeatVerdict } from './heartbeat-verdict.ts';

/** What judging needs. */
export interface JudgeBeatsDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly timeZone: string };
  /** `quietHours` as in the settings: `off`, or `22:00-07:00`. */
  readonly settings: { readonly quietHours: string; readonly repeatHours: number };
  readonly clock: Clock;
  readonly log: Logger;
}

/** So much of an unclear answer is logged, in characters. */
const LOGGED = 200;

/** Decides what becomes of the answer to a heartbeat: quiet, told now, told later, or told already (H03, H04). */
export function judgeBeats({ store, agent, settings, clock, log }: JudgeBeatsDeps): JudgeBeat {
  const hours = readQuietHours(settings.quietHours);
  const zone = zoneClock(agent.timeZone);
  return async (answer, run): Promise<BeatVerdict> => {
    const verdict = heartbeatVerdict(answer);
    if (verdict.kind === 'quiet') return { state: 'quiet', reason: verdict.reason };
    if (verdict.kind === 'unclear') {
      const said = verdict.text.slice(0, LOGGED);
      log.warn(
        { agent: run.agent, task: run.task, said },
        'an unclear heartbeat is told to nobody',
      );
      return { state: 'unclear', reason: verdict.reason };
    }
    const now = clock();
    const fingerprint = alertFingerprint(verdict.text);
    const since = repeatSince(now, settings.repeatHours);
    if (await store.heartbeats.alertedSince(run.agent, fingerprint, since)) {
      const reason = `it was told already within ${settings.repeatHours} h`;
      return { state: 'repeated', reason };
    }
    const heldUntil = quietUntil(hours, { clock: zone, now });
    const held = heldUntil === null ? {} : { heldUntil };
    return { state: 'alerted', text: verdict.text, fingerprint, ...held };
  };
}
