/** A running clock that a player can advance. */
export interface PlayClock {
  now(): number;
  ahead(): number;
  advance(ms: number): void;
}

export function createPlayClock(): PlayClock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    ahead: () => ahead,
    advance: (ms) => {
      ahead += ms;
    },
  };
}
