// Preloaded by a program (`node --import`): sets its clock CLOCK_SHIFT_MS ahead.
const shift = Number(process.env.CLOCK_SHIFT_MS);
const { now } = Date;
Date.now = () => now() + shift;
