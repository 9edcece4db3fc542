import type { TurnLimits } from '@parley/agent';
import type { LoadedSettings } from './read-settings.ts';

/** The bounds of one turn (G01); settings count in seconds and minutes, everything else in ms. */
export function turnLimits({ limits, tools }: LoadedSettings['settings']): TurnLimits {
  return {
    steps: limits.turnSteps,
    turnMs: limits.turnMinutes * 60_000,
    tokens: limits.turnTokens,
    toolMs: tools.maxSeconds * 1_000,
    outputCharacters: tools.maxCharacters,
  };
}
