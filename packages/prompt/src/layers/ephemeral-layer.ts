import { absent, type Layer } from '../layer.ts';

/**
 * What holds for this turn alone: from the settings, or a sub-agent's task. The assembler puts it last
 * (P13); since it is part of the prompt and of no message, no history ever holds it.
 */
export const ephemeralLayer: Layer = {
  id: 'ephemeral',
  volatility: 'turn',
  placement: 'system',
  modes: ['full', 'minimal'],
  render: ({ ephemeral }) => ephemeral ?? absent('no ephemeral prompt'),
};
