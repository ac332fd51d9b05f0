import { addBusinessDays, isBefore } from "date-fns";
import dayjs from "dayjs";
import { v4 as newId } from "uuid";

/** Makes an order out of a basket. */
export function placeOrder(basket, now = new Date()) {
  return {
    id: newId(),
    placed: now,
    due: addBusinessDays(now, 3),
    lines: basket.map(({ product, quantity }) => ({ ...product, quantity })),
  };
}

/** Says in words when an order arrives. */
export function dueText(order, now = new Date()) {
  const day = dayjs(order.due).format("YYYY-MM-DD");
  return isBefore(order.due, now) ? `was due on ${day}` : `arrives on ${day}`;
}
