// Loaded before a program (`node --import`): its clock is CLOCK_SHIFT_MS ahead.
const shift = Number(process.env.CLOCK_SHIFT_MS);
const { now } = Date;
Date.now = () => now() + shift;
