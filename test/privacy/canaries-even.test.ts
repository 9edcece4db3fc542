import { describe } from 'vitest';
import { testCanaryTurns } from './canary-turns.ts';

describe('text that only the owner or only one group may see', () => {
  testCanaryTurns('even');
});
