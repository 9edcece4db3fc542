import { describe } from 'vitest';
import { keepsItsPromises } from './crash-promises.ts';

// Apart from the distributed one, which needs servers: this one would run once more without each of them.
describe('one process, killed at every point of the durable path', () => {
  keepsItsPromises('embedded');
});
