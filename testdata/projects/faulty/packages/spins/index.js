// A busy wait that nothing ends: what a limit is for.
let turns = 0;
while (turns >= 0) {
  turns = (turns + 1) % 1000;
}

export function spun() {
  return turns;
}
