import { QUIET_TOKEN } from '@parley/contracts';
import { absent, type Layer } from '../layer.ts';

const INTRO = `Nobody wrote to you: this is the time you have to look after standing tasks.
- Do what the task below says, and nothing else. Older talk is not a task.
- Nothing needs your owner's attention: answer with exactly ${QUIET_TOKEN}. Nothing is sent then.
- Something does: write what your owner should know, in a few sentences, without ${QUIET_TOKEN}.`;

/** What a heartbeat is for and which task is due; on heartbeat turns alone (H05). */
export const heartbeatLayer: Layer = {
  id: 'heartbeat',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ facts, heartbeat, reader }, { heading = '## Heartbeat' }) {
    if (!facts.heartbeat) return absent('not a heartbeat turn');
    const due =
      heartbeat === undefined
        ? ''
        : `\n\nTask: ${heartbeat.task}\nSchedule: ${heartbeat.schedule}\n${heartbeat.instruction}`;
    const { conversationId } = reader;
    return {
      text: `${heading}\n${INTRO}${due}`,
      source: heartbeat === undefined ? 'heartbeat' : `heartbeat task ${heartbeat.task}`,
      audience: { kind: 'conversation', conversationId },
    };
  },
};
